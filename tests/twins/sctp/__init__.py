"""Twin of an SCTP association."""
