"""An SCTP association over one path or two."""
