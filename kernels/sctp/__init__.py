"""Sender and receiver of an SCTP association."""
