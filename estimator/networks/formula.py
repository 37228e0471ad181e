"""Common parts of the formulae for several kinds of networks.

A path uses PFTK, or its counterparts for BIC, CUBIC and SCTP, limited by the sawtooth of its bottleneck; an
802.11 cell uses Bianchi's model, shared links use max-min fair shares. docs/models/formulas.md describes what
these omit and their accuracy.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from netcarlo.kernels.base.layout import BYTE_TIME_BITS, NS
from netcarlo.kernels.base.loss import DIGITS
from netcarlo.kernels.base.parameters import ReliableP, RowP, SctpP, TcpP
from netcarlo.kernels.senders import BIC, CUBIC
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
    if of_sctp.any():
        floor = p[..., SctpP.SSTHRESH_FLOOR] / np.maximum(p[..., RowP.DATA] + p[..., RowP.CHUNK_HEADER], 1)
        found = np.where(of_sctp, formulas.sctp(rtt_s, loss, **known, floor=floor, again=again), found)
    return found


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
