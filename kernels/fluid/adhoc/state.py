"""Memory layout of the fluid of ad hoc networks.

Scratch `m` begins as in the packet engine (`netcarlo.kernels.adhoc.state`), whose motion and topology are
used unchanged. The words of the flow, `s`, begin at word `Word.ASSOCIATION`; `g` are its floats.
"""

from enum import IntEnum
from typing import Any, NamedTuple

from netcarlo.kernels.fluid.state import FlowFloat, FlowWord

MOST_STAGES = 16
"""Most attempts of an RTS that are modelled; an exchange that needs more counts as given up."""


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
    """Words of the flow, behind those that every fluid has."""

    BROKEN = FlowWord.SIZE  # 1 + position in the route of its first link that is gone; 0: all are there
    CHANGED = FlowWord.SIZE + 1  # 1: the rates of the route are to be computed anew
    GAP = FlowWord.SIZE + 2  # packets until the sink's host loses the next [packet, ONE_BITS]
    GAPS = FlowWord.SIZE + 3  # gaps drawn so far
    GIVEN_UP = FlowWord.SIZE + 4  # links that the MAC gave up though they were there
    BACKLOG = FlowWord.SIZE + 5  # UDP: packets that wait at the source [packet, ONE_BITS]
    SIZE = FlowWord.SIZE + 6


class AirFloat(IntEnum):
    """Floats of the flow, behind those that every fluid has."""

    SERVICE = FlowFloat.SIZE  # of the channel's time that a packet takes, with its answers [ns]
    TRIP = FlowFloat.SIZE + 1  # round trip of a lone packet [ns]
    NOISE = FlowFloat.SIZE + 2  # links given up for noise, per packet
    HIDDEN = FlowFloat.SIZE + 3  # links given up for hidden nodes, per packet
    WORST = FlowFloat.SIZE + 4  # greatest probability that a hidden node is on the air
    HAZARD = FlowFloat.SIZE + 5  # links given up that may be expected before the next
    FRAME = FlowFloat.SIZE + 6  # probability that a radio loses a frame
    PROBES = FlowFloat.SIZE + 7  # probability that of two probes and their replies one is lost
    STAGES = FlowFloat.SIZE + 8  # probability that an exchange has a k-th attempt
    RUNS = STAGES + MOST_STAGES  # probability of a k-th attempt without an answer to any RTS before
    EXCHANGES = RUNS + MOST_STAGES  # the exchanges on the longest route, `ExchangeFloat` each


class ExchangeFloat(IntEnum):
    """Floats of an exchange of the route: of data hop by hop, then of answers."""

    AIR = 0  # of the channel's time, backoff and retries included [ns]
    BUSY = 1  # of it on the air [ns]
    HIDDEN = 2  # probability that its RTS meets a frame which only its receiver senses
    GIVEN_UP = 3  # probability that it fails too often
    SIZE = 4


# Random stream (fourth part of the stream address), behind those of the other fluids.
STREAM_GIVEN_UP = 4 << 23  # draw 2 k: links expected to be given up from the k-th on; 2 k + 1: the requests
