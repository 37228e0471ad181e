"""Fields that the fast models of 802.11 networks ignore."""

IGNORED_FIELDS: dict[str, tuple[str, ...]] = {
    "fluid": (
        "transport.sack_block", "transport.duplicate_acks", "transport.jitter", "transport.gaps",
        "transport.stop", "transport.max_rto", "transport.initial_rto", "transport.ack_delay",
        "transport.tick", "transport.clock_phase", "transport.initial_window", "transport.initial_ssthresh",
        "transport.handshake", "wireless.eifs", "wireless.long_retry", "wireless.survival",
        "wireless.back_pressure",
    ),
    "formula": (
        "transport.start", "transport.stop", "transport.jitter", "transport.gaps", "wireless.eifs",
        "wireless.long_retry", "wireless.survival", "wireless.back_pressure", "wireless.queue",
        "wireless.cw_max", "wireless.gateway_burst", "wireless.best_interval",
    ),
}  # fmt: skip
"""Patterns of field names, by fidelity, or by fidelity and protocol of the transport."""
