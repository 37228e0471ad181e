"""BBR version 1: a model of the path, its bandwidth and minimum RTT, sets the pacing rate and the window."""
