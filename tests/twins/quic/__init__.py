"""Naive twin of QUIC (RFC 9000, RFC 9002, RFC 9438)."""
