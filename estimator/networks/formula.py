"""Common parts of the formulae for several kinds of networks.

A path uses PFTK, or its counterparts for BIC, CUBIC and SCTP, limited by the sawtooth of its bottleneck; an
802.11 cell uses Bianchi's model, shared links use max-min fair shares. docs/models/formulas.md describes what
these omit and their accuracy.
"""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from netcarlo.kernels.base.layout import BYTE_TIME_BITS, NS
from netcarlo.kernels.base.loss import DIGITS
from netcarlo.kernels.base.parameters import ReliableP, RowP, SctpP, TcpP
from netcarlo.kernels.senders import BIC, CUBIC, LINUX_BBR, LINUX_CUBIC, LINUX_RENO
from netcarlo.numerics import formulas
from netcarlo.numerics.arrays import Floats, Ints

Found = dict[str, Floats]
"""Outcomes of rows by name, [n] each; names are those of `netcarlo.simulation.outcomes.MEANING`."""


def probability(losses: NDArray[np.uint32]) -> Floats:
    """Return the loss probabilities [m] for digit thresholds [m, 32], to about 1e-9."""
    one = losses[:, 0] / 2.0**32
    lossless = losses[:, DIGITS - 1] == 0xFFFFFFFF
    return np.where(lossless, 0.0, (1 - 2 * one) / (1 - one))


def loss_limited(
    p: Ints, rtt_s: Floats, loss: Floats, most: Floats, *, kind: Any, again: Floats | None = None
) -> Floats:
    """Return the loss-limited packets per second of transports with the columns of `P` [..., len(P)].

    It uses PFTK, or its counterparts for SCTP and where the sender type `kind` [...] is BIC or CUBIC.
    Retransmissions of SCTP are lost with probability `again` (default: `loss`).
    """
    known: dict[str, Any] = {"window": most, "rto_s": first_rto_s(p, rtt_s)}
    every, of_sctp = np.maximum(p[..., ReliableP.ACK_EVERY], 1), p[..., SctpP.RWND] > 0
    found = formulas.pftk(rtt_s, loss, **known, ack_every=every)
    for number, of_kind in ((CUBIC, formulas.cubic), (BIC, formulas.bic)):
        if np.any(kind == number):
            found = np.where(kind == number, of_kind(rtt_s, loss, **known, ack_every=every), found)
    for number, of_linux in _OF_LINUX.items():
        if np.any(kind == number):
            found = np.where(kind == number, of_linux(rtt_s, loss, **known), found)
    if of_sctp.any():
        floor = p[..., SctpP.SSTHRESH_FLOOR] / np.maximum(p[..., RowP.DATA] + p[..., RowP.CHUNK_HEADER], 1)
        found = np.where(of_sctp, formulas.sctp(rtt_s, loss, **known, floor=floor, again=again), found)
    return found


def _linux_cubic(rtt_s: Floats, loss: Floats, **known: Any) -> Floats:
    """Return the packets per second of CUBIC with RACK-TLP, which repeats lost retransmissions in time."""
    return formulas.cubic(rtt_s, loss, **known, of=formulas.OF_LINUX, again=0.0)


def _linux_reno(rtt_s: Floats, loss: Floats, **known: Any) -> Floats:
    """Return the packets per second of Reno with RACK-TLP, whose window grows by packets acknowledged."""
    return formulas.sctp(rtt_s, loss, **known, floor=1, again=0.0)


def _linux_bbr(rtt_s: Floats, loss: Floats, *, window: Floats, rto_s: Floats) -> Floats:
    """Return the packets per second of BBR by its windows alone."""
    return formulas.bbr(rtt_s, loss, window=window)


_OF_LINUX: Mapping[int, Callable[..., Floats]] = {
    LINUX_CUBIC: _linux_cubic, LINUX_RENO: _linux_reno, LINUX_BBR: _linux_bbr,
}  # fmt: skip
"""Formulae of today's Linux by number of the sender."""


def first_rto_s(p: Ints, rtt_s: Floats) -> Floats:
    """Return the retransmission timeout before back-off [s]."""
    return np.maximum(p[..., ReliableP.MIN_RTO], rtt_s * NS + 2 * p[..., TcpP.TICK]) / NS


def max_in_flight(p: Ints) -> Floats:
    """Return the maximum number of packets in flight by windows and buffers."""
    buffer = np.where(p[..., TcpP.SEND_BUFFER] > 0, p[..., TcpP.SEND_BUFFER], np.inf)
    return np.minimum(p[..., RowP.WINDOW], buffer)


def byte_s(byte_time: Ints) -> Floats:
    """Return the transmission time of a byte [s], for columns such as `Hop.BYTE_TIME`."""
    return byte_time / (2.0**BYTE_TIME_BITS * NS)
