"""The two ends of an SCTP association."""
