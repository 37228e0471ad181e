"""SCTP association over one or two paths."""
