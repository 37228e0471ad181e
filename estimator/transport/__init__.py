"""Transports of a scenario: TCP, SCTP and UDP, with socket buffers and congestion controls."""
