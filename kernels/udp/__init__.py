"""UDP at a constant bit rate: what its sources and sinks share."""
