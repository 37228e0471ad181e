"""UDP: sources of datagrams at a constant mean rate, and sinks."""
