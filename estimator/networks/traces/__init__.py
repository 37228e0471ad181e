"""Traces of a hop: rate, delay and loss over time, or the times at which packets may leave.

    time,rate,delay,loss            0
    0 s,20 Mbit/s,25 ms,0           1
    12 s,5 Mbit/s,40 ms,1 %         1
    15 s                            4

A table is piecewise constant (`steps`); numbers, one on each line, are Mahimahi's format (`mahimahi`).
`read` lists all formats.
"""

from netcarlo.networks.traces.field import AnyTrace
from netcarlo.networks.traces.read import parse, trace
from netcarlo.networks.traces.trace import MAX_LINES, PACKET, Trace, Traces, check_end

__all__ = ["MAX_LINES", "PACKET", "AnyTrace", "Trace", "Traces", "check_end", "parse", "trace"]
