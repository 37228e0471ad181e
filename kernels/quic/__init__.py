"""QUIC (RFC 9000) with the loss recovery and congestion control of RFC 9002."""
