"""Transports of a scenario: TCP, SCTP, QUIC and UDP, with socket buffers and congestion controls."""
