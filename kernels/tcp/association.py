"""A TCP association as a machine that an engine drives with events: all that an engine may call."""

from netcarlo.kernels.tcp.acks import (
    FULL,
    blocks_of,
    complete,
    corrupted,
    delay_of,
    in_order,
    note_copy,
    note_stamp,
    on_data,
    on_delay,
    size_of_ack,
)
from netcarlo.kernels.tcp.marks import on_echo
from netcarlo.kernels.tcp.pausing import on_notice, on_probe, probe
from netcarlo.kernels.tcp.sender import (
    FLOATS,
    copy_of,
    finished,
    first_of,
    on_ack,
    on_timeout,
    prepare,
    resume,
    start,
    take,
)
from netcarlo.kernels.tcp.state import NONE, Tcp

__all__ = [
    "FLOATS",
    "FULL",
    "NONE",
    "Tcp",
    "blocks_of",
    "complete",
    "copy_of",
    "corrupted",
    "delay_of",
    "finished",
    "first_of",
    "in_order",
    "note_copy",
    "note_stamp",
    "on_ack",
    "on_data",
    "on_delay",
    "on_echo",
    "on_notice",
    "on_probe",
    "on_timeout",
    "prepare",
    "probe",
    "resume",
    "size_of_ack",
    "start",
    "take",
]
