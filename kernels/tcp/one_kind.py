"""Flows of one kind: loss recovery and congestion control are those of the model."""

from typing import Any

import numpy as np

from netcarlo.kernels.base.bind import slot

FIRST: Any = slot("first")
SACK: Any = slot("sack")

control: Any = slot("control")
inner: Any = slot("inner")
"""Congestion control without the functions that loss recovery replaces (`new_probing`)."""


def first_of(p: Any) -> Any:
    """Return the number of the first data packet: 1 after a handshake, else 0."""
    return np.int64(FIRST)


def sack_of(p: Any) -> Any:
    """Return True if ACKs carry SACK blocks."""
    return SACK


def on_ack(p: Any, packets: Any, now: Any, rtt: Any, f: Any) -> None:
    """Tell the congestion control of an ACK of this many new packets."""
    control.on_ack(packets, now, rtt, f)


def reduce(p: Any, f: Any, constants: Any, now: Any, rtt: Any, window: Any) -> Any:
    """Return the window after an ECN echo [packets] (RFC 3168)."""
    if FIRST == 0:  # Vegas
        return window * 0.75
    return inner.reduce(window, False, now, rtt, constants, f)
