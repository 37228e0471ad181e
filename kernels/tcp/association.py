"""TCP association as a state machine that an engine drives with events: all functions that it may call.

`sctp.association` and `linux.association` have the same functions. The slot `association` names the module
that an engine uses.
"""

from enum import IntEnum
from typing import Any

from netcarlo.kernels.tcp.acks import (
    FULL,
    complete,
    corrupted,
    cumulative_ack,
    delay_of,
    in_order,
    note_timestamp,
    note_transmission,
    on_data,
    on_delay,
    size_of_ack,
)
from netcarlo.kernels.tcp.ecn import on_echo
from netcarlo.kernels.tcp.pausing import on_notice, on_probe, probe
from netcarlo.kernels.tcp.sender import (
    FLOATS,
    finished,
    first_of,
    next_segment,
    on_ack,
    on_timeout,
    prepare,
    resume,
    start,
    transmission_id,
)
from netcarlo.kernels.tcp.state import END as WORDS
from netcarlo.kernels.tcp.state import NONE, Tcp
from netcarlo.kernels.tcp.view import (
    acked,
    all_sent,
    carries_cwr,
    cwnd_of,
    data_waiting,
    due,
    due_at_receiver,
    is_ack,
    is_data,
    is_last,
    may_send,
    overfull,
    sequence_of,
    show,
    size_of,
)

__all__ = [
    "FLOATS",
    "FULL",
    "NONE",
    "WORDS",
    "Counter",
    "acked",
    "all_sent",
    "carries_cwr",
    "complete",
    "corrupted",
    "cumulative_ack",
    "cwnd_of",
    "data_waiting",
    "delay_of",
    "due",
    "due_at_receiver",
    "finished",
    "first_of",
    "in_order",
    "is_ack",
    "is_data",
    "is_last",
    "may_send",
    "next_segment",
    "note_first_sent",
    "note_timestamp",
    "note_transmission",
    "on_ack",
    "on_data",
    "on_delay",
    "on_echo",
    "on_notice",
    "on_probe",
    "on_timeout",
    "overfull",
    "prepare",
    "probe",
    "resume",
    "sequence_of",
    "show",
    "size_of",
    "size_of_ack",
    "start",
    "transmission_id",
]


class Counter(IntEnum):
    """Words of an association that an engine may read."""

    SENT = Tcp.SENT
    RETRANSMITTED = Tcp.RETRANSMITTED
    HANDSHAKES = Tcp.HANDSHAKES
    TIMEOUTS = Tcp.TIMEOUTS
    FAST_RETRANSMITS = Tcp.FAST_RETRANSMITS
    REDUCTIONS = Tcp.REDUCTIONS
    ACKED = Tcp.HIGHEST_ACK
    OUT_OF_ORDER = Tcp.OUT_OF_ORDER
    RTT = Tcp.RTT
    AVOIDED = Tcp.AVOIDED
    PROBING = Tcp.PROBING
    PROBING_SINCE = Tcp.PROBING_SINCE
    PROBES = Tcp.PROBES
    PROBE_CYCLES = Tcp.PROBE_CYCLES
    PROBE_TIME = Tcp.PROBE_TIME


def note_first_sent(p: Any, s: Any, packet: Any, now: Any) -> None:
    """Do nothing: nobody asks for the delay of packets (`first_sent`)."""
