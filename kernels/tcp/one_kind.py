"""Flows of one kind: loss recovery and the congestion control are those of the model."""

from typing import Any

import numpy as np

from netcarlo.kernels.base.bind import slot

FIRST: Any = slot("first")
SACK: Any = slot("sack")

control: Any = slot("control")
inner: Any = slot("inner")
"""The congestion control itself, where loss recovery stands before it (`new_probing`)."""


def first_of(p: Any) -> Any:
    """The first data packet: 1 behind a handshake, else 0."""
    return np.int64(FIRST)


def sack_of(p: Any) -> Any:
    """Whether ACKs carry SACK blocks."""
    return SACK


def on_ack(p: Any, packets: Any, now: Any, rtt: Any, f: Any) -> None:
    """An ACK arrives, for so many new packets."""
    control.on_ack(packets, now, rtt, f)


def reduce(p: Any, f: Any, constants: Any, now: Any, rtt: Any, window: Any) -> Any:
    """What a mark makes of the window (RFC 3168) [packet]."""
    if FIRST == 0:  # Vegas
        return window * 0.75
    return inner.reduce(window, False, now, rtt, constants, f)
