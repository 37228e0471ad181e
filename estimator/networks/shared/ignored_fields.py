"""Fields that the fast models of shared links ignore."""

IGNORED_FIELDS: dict[str, tuple[str, ...]] = {
    "fluid": (
        "transport.sack_block", "transport.duplicate_acks", "transport.max_rto", "transport.initial_rto",
        "transport.ack_delay", "transport.tick", "transport.clock_phase", "*.reverse.queue", "*.reverse.red",
        "*.jitter", "*.gaps", "*.fq_codel.quantum",
    ),
    "formula": (
        "transport.start", "transport.sack_block", "transport.duplicate_acks", "transport.min_rto",
        "transport.ack_every", "transport.window", "transport.receive_buffer", "transport.send_buffer",
        "transport.max_rto", "transport.initial_rto", "transport.ack_delay", "transport.tick",
        "transport.clock_phase", "transport.initial_window", "transport.initial_ssthresh",
        "transport.handshake", "*.window", "*.queue", "*.red", "*.red.*", "*.ecn", "*.reverse.*",
        "*.jitter", "*.gaps", "shared.flows.*.protocol", "shared.flows.*.udp.bytes",
        "shared.flows.*.udp.packets",
    ),
    "formula linux": ("transport.slow_start",),
}  # fmt: skip
"""Patterns of field names, by fidelity, or by fidelity and protocol of the transport."""
