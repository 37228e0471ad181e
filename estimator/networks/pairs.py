"""Time-varying links: conversion of traces, jitter and policers to the pairs read by
`kernels.base.varying`."""

from typing import NamedTuple

import numpy as np

from netcarlo.kernels.base.layout import BYTE_TIME_BITS, FOREVER, NS
from netcarlo.kernels.base.varying import HEAD, JITTER_BITS, OPPORTUNITIES, STEPS
from netcarlo.networks.jitter import Jitter
from netcarlo.networks.traces import PACKET, Trace
from netcarlo.networks.varying import Policer, Varying
from netcarlo.numerics.arrays import Floats, Ints
from netcarlo.schema.draws import Draws

ALL = frozenset(("rate", "delay", "loss"))
"""Columns of a trace."""


class Direction(NamedTuple):
    """Time-varying properties of one direction of a hop or cable."""

    trace: Trace | None
    repeat: bool
    used: frozenset[str]
    """Columns of the trace that are used."""
    policer: Ints
    """Byte time and burst of the policer for the rows [n, 2]; 0 without one."""
    jitter: Jitter | None


def forward(of: Varying, name: str, draws: Draws) -> Direction:
    """Return the time-varying properties of a hop, or of one direction of a cable, whose field is `name`."""
    return Direction(of.trace, bool(of.repeat), ALL, policed(of.policer, f"{name}.policer", draws), of.jitter)


def policed(policer: Policer | None, name: str, draws: Draws) -> Ints:
    """Return byte time and burst [ns] of a policer for the rows [n, 2]."""
    found = np.zeros((len(draws.replications), 2), np.int64)
    if policer is not None:
        found[:, 0] = byte_times(draws.floats(f"{name}.rate", policer.rate))
        burst = draws.floats(f"{name}.burst", policer.burst)
        found[:, 1] = np.floor(burst * found[:, 0] / 2**BYTE_TIME_BITS)
    return found


def byte_times(rates: Floats) -> Ints:
    """Return byte times [ns] with BYTE_TIME_BITS fraction bits for rates [bit/s]; 0 for a rate of 0."""
    with np.errstate(divide="ignore"):
        found = np.where(rates > 0, 8e9 * 2**BYTE_TIME_BITS / rates, 0.0)
    return np.rint(found).astype(np.int64)


def most_pairs(trace: Trace | None, jitter: Jitter | None) -> int:
    """Return the maximum number of pairs of a direction."""
    entries = 0 if trace is None else 2 * len(trace.times_s)
    return entries + (0 if jitter is None else 1 << JITTER_BITS) + HEAD


def pairs(of: Direction, byte_time: Ints, delay: Ints) -> tuple[Ints, Ints, Ints]:
    """Return the pairs of a direction [n, k, 2] (k is 0 if nothing varies), and its byte time and delay [n].

    Byte time and delay are the means of the trace where it has these columns.
    """
    n = len(of.policer)
    head = np.zeros((n, HEAD, 2), np.int64)
    head[:, 0] = of.policer
    parts = [head]
    given = {name: mean for name in of.used if of.trace and (mean := of.trace.mean(name)) is not None}
    if of.trace is not None and given:
        if "rate" in given:
            byte_time = byte_times(np.full(n, given["rate"]))
        if "delay" in given:
            delay = np.full(n, round(given["delay"] * NS))
        parts.append(_entries(of.trace, of.used, byte_time, delay))
        head[:, 1] = OPPORTUNITIES if of.trace.packets is not None else STEPS, len(of.trace.times_s)
        head[:, 2, 0] = round(of.trace.end_s * NS) if of.repeat else 0
    if of.jitter is not None:
        points = np.rint(of.jitter.quantiles() * NS).astype(np.int64)
        jitter = np.stack([points[:-1], points[1:]], axis=1)
        parts.append(np.broadcast_to(jitter, (n, *jitter.shape)))
        head[:, 2, 1] = -len(jitter) if of.jitter.reorder else len(jitter)
    if len(parts) == 1 and not of.policer.any():
        return head[:, :0], byte_time, delay
    found = np.concatenate(parts, axis=1)
    found[..., 0] += FOREVER
    return found, byte_time, delay


def _entries(given: Trace, used: frozenset[str], byte_time: Ints, delay: Ints) -> Ints:
    """Return the entries of a trace [n, k, 2]; `byte_time` and `delay` [n] replace columns that it does
    not have."""
    times = np.rint(np.array(given.times_s) * NS).astype(np.int64)
    if given.packets is not None:
        entries = np.stack([times, given.packets * PACKET], axis=1)
        return np.broadcast_to(entries, (len(delay), *entries.shape))
    columns = {name: np.array(given.columns[name]) for name in used if name in given.columns}
    entries = np.zeros((len(delay), len(times), 2, 2), np.int64)
    entries[:, :, 0, 0] = times
    entries[:, :, 0, 1] = byte_times(columns["rate"]) if "rate" in columns else byte_time[:, None]
    entries[:, :, 1, 0] = np.rint(columns["delay"] * NS) if "delay" in columns else delay[:, None]
    entries[:, :, 1, 1] = np.rint(columns.get("loss", np.zeros(1)) * 2.0**32)
    return entries.reshape(len(delay), -1, 2)
