"""Fields that the fast models of paths ignore."""

IGNORED_FIELDS: dict[str, tuple[str, ...]] = {
    "fluid": (
        "transport.sack_block", "transport.sack_first", "*.ack_loss", "*.ack_bursts", "*.reverse.queue",
        "paths.*.tick", "*.fq_codel.quantum",
    ),
    "formula": (
        "transport.start", "transport.sack_block", "transport.duplicate_acks", "transport.max_rto",
        "transport.initial_rto", "transport.ack_delay", "transport.tick", "transport.clock_phase",
        "transport.initial_ssthresh", "*.ack_loss", "*.ack_bursts", "*.reverse.queue", "paths.*.tick",
    ),
    "fluid linux": ("transport.ack_delay", "transport.max_rto"),
    "fluid mptcp": (
        "transport.ack_delay", "transport.max_rto", "transport.stale_loss_cnt", "transport.per_mss",
        "transport.window_growth",
    ),
    "fluid quic": ("transport.burst",),
    "formula linux": ("transport.slow_start", "transport.ack_every", "transport.min_rto"),
    "formula endless": ("transport.initial_window", "transport.handshake"),
    "formula udp": ("transport.jitter",),
    "formula sctp": (
        "transport.sack_first", "transport.probe_first", "transport.max_burst", "transport.rules",
        "transport.initial_cwnd", "transport.ssthresh_floor", "transport.path_max_retrans",
        "transport.failback", "transport.heartbeat_interval", "transport.min_rto", "transport.ack_every",
        "paths.1.*",
    ),
}  # fmt: skip
"""Patterns of field names, by fidelity, by fidelity and protocol, or by fidelity for endless transfers."""
