"""Mahimahi's format: the milliseconds at which a packet of 1500 B may leave, in order.

Two packets may leave in a millisecond that is listed twice. The last line is the end of the trace.
"""

import re

import numpy as np

from netcarlo.errors import InputError
from netcarlo.networks.traces.steps import TIME
from netcarlo.networks.traces.trace import MAX_LINES, Trace

_NUMBER = re.compile(r"\d+(\.\d*)?")


def is_one(lines: list[tuple[int, str]]) -> bool:
    """Return True if the first line is one number."""
    return bool(lines) and _NUMBER.fullmatch(lines[0][1]) is not None


def parse(text: str, lines: list[tuple[int, str]]) -> Trace:
    """Return the trace in numbered lines that are neither empty nor comments. Raises InputError."""
    last = 1000 * TIME.high
    for number, line in lines:
        if not _NUMBER.fullmatch(line) or float(line) > last:
            expected = f"expected milliseconds from 0 to {last:.0f}, as in 0, 1, 1, 3, one on each line"
            raise InputError(f"has '{line[:20]}' in line {number}; {expected}")
    every = np.array([float(line) for _, line in lines])
    if (falls := np.flatnonzero(np.diff(every) < 0)).size:
        raise InputError(f"has a decreasing time in line {lines[falls[0] + 1][0]}; sort the lines")
    if every[-1] == 0:
        raise InputError("is a trace that ends at 0 ms; write a later last line")
    times, packets = np.unique(every, return_counts=True)
    if len(times) > MAX_LINES:
        steps = "write columns time,rate with the mean rate of each 100 ms, 120 kbit/s for each packet in it"
        raise InputError(f"has {len(times)} different milliseconds; expected at most {MAX_LINES}; {steps}")
    return Trace(text, tuple((times / 1000).tolist()), float(every[-1] / 1000), {}, packets)
