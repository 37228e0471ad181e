"""UDP at a constant mean rate: what its sources and sinks share."""
