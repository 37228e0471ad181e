"""The naive SCTP association."""
