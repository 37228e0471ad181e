"""The transports of a scenario: TCP, SCTP, UDP, their buffers and congestion controls."""
