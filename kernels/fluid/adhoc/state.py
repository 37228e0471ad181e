"""Memory layout of the fluid of ad hoc networks.

The scratch `m` begins as in the packet engine (`netcarlo.kernels.adhoc.state`), whose mobility and topology
are used unchanged. The words of the flow, `s`, begin at word `Word.ASSOCIATION`; `g` are its floats.
"""

from enum import IntEnum
from typing import Any, NamedTuple

from netcarlo.kernels.fluid.state import FlowFloat, FlowWord

MOST_STAGES = 16
"""Largest number of modelled attempts of an RTS; an exchange that needs more counts as given up."""


class Row(NamedTuple):
    """Arrays of a row."""

    p: Any
    """Scratch `m`, which begins with the columns of the scenario (`Manet`)."""
    s: Any
    """Words of the flow (`FlowWord`, `AirWord`)."""
    g: Any
    """Floats of the flow (`FlowFloat`, `AirFloat`)."""
    times: Any
    """Times of the waypoints of the nodes [ns]."""
    places: Any
    """Places of the nodes at these times."""
    losses: Any
    """Loss table, see `base.loss`."""


class AirWord(IntEnum):
    """Words of the flow, following those of every fluid (`FlowWord`)."""

    BROKEN = FlowWord.SIZE  # 1 + position in the route of its first broken link; 0: no link is broken
    CHANGED = FlowWord.SIZE + 1  # 1: the rates of the route must be recomputed
    GAP = FlowWord.SIZE + 2  # packets until the next loss at the receiving host [packet, ONE_BITS]
    GAPS = FlowWord.SIZE + 3  # gaps drawn so far [n]
    GIVEN_UP = FlowWord.SIZE + 4  # 1 + existing links that the MAC has given up [n]
    BACKLOG = FlowWord.SIZE + 5  # UDP: packets waiting at the source [packet, ONE_BITS]
    ROOM = FlowWord.SIZE + 6  # SCTP: receive window left in recovery [packet]
    REFILLED_AT = FlowWord.SIZE + 7  # SCTP: end of the round trip that begins with one burst [ns]
    SIZE = FlowWord.SIZE + 8


class AirFloat(IntEnum):
    """Floats of the flow, following those of every fluid (`FlowFloat`)."""

    SERVICE = FlowFloat.SIZE  # channel time of a packet and its answers at the bottleneck of the route [ns]
    TRIP = FlowFloat.SIZE + 1  # round trip of a lone packet [ns]
    NOISE = FlowFloat.SIZE + 2  # links given up because of noise, per packet
    HIDDEN = FlowFloat.SIZE + 3  # links given up because of hidden nodes, per packet
    WORST = FlowFloat.SIZE + 4  # largest probability that an RTS collides with a hidden node
    HAZARD = FlowFloat.SIZE + 5  # expected link failures until the next one (unit exponential)
    FRAME = FlowFloat.SIZE + 6  # probability that a radio loses a frame
    PROBES = FlowFloat.SIZE + 7  # probability that one of two probes or of their replies is lost
    STAGES = FlowFloat.SIZE + 8  # probability of the k-th attempt of an exchange
    RUNS = STAGES + MOST_STAGES  # probability of the k-th attempt without a CTS to any earlier RTS
    EXCHANGES = RUNS + MOST_STAGES  # exchanges on the longest route, `ExchangeFloat` each


class ExchangeFloat(IntEnum):
    """Floats of an exchange of the route: first data hop by hop, then answers."""

    AIR = 0  # channel time until it succeeds, including backoff and retries [ns]
    BUSY = 1  # part of AIR with frames on the air [ns]
    HIDDEN = 2  # probability that its RTS collides with a frame that only its receiver senses
    GIVEN_UP = 3  # probability that it reaches the retry limit
    SIZE = 4


# Random stream (fourth part of the stream address), following those of the other fluids.
STREAM_GIVEN_UP = 4 << 23  # draw 2 k: expected failures after the k-th; 2 k + 1: its requests
