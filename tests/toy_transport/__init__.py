"""A transport for tests of the contract of transports: stop-and-wait, with its naive twin.

The sender sends one packet, waits for its acknowledgement, and sends it again after TIMEOUT.
"""

TIMEOUT = 200_000_000
"""Time until a packet is retransmitted [ns]."""
