"""A transport for tests of the contract of transports: stop-and-wait, with its twin.

The sender sends one packet, waits for its acknowledgement, and retransmits it after TIMEOUT.
"""

TIMEOUT = 200_000_000
"""Time until a packet is retransmitted [ns]."""
