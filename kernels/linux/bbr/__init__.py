"""BBR, version 1: a model of the path, its bandwidth and round trip, sets the rate and the window."""
