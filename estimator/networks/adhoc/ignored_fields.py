"""Fields that the fast models of ad hoc networks ignore."""

IGNORED_FIELDS: dict[str, tuple[str, ...]] = {
    "fluid": (
        "transport.sack_block", "transport.duplicate_acks", "transport.receive_buffer",
        "transport.initial_rto", "transport.ack_delay", "transport.initial_window",
        "transport.initial_ssthresh", "adhoc.capture", "adhoc.energy.*", "adhoc.radio.eifs",
    ),
}  # fmt: skip
"""Patterns of field names, by fidelity, or by fidelity and protocol of the transport."""
