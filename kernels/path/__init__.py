"""One flow over a path of hops, packet by packet."""
