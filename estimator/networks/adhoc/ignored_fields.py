"""Fields that the cheap models of this kind of network do not read."""

IGNORED_FIELDS: dict[str, tuple[str, ...]] = {
    "fluid": (
        "transport.sack_block", "transport.duplicate_acks", "transport.receive_buffer",
        "transport.initial_rto", "transport.ack_delay", "transport.initial_window",
        "transport.initial_ssthresh", "adhoc.capture", "adhoc.energy.*", "adhoc.radio.eifs",
    ),
}  # fmt: skip
"""Patterns of the names of fields, by fidelity, or by fidelity and protocol of the transport."""
