"""An 802.11 network, frame by frame: stations, flows, and what lies behind the radio.

One thread simulates a cell or a multi-hop network with UDP flows and flows of SCTP, of one TCP or of several.
Every node, leg and flow knows when its next event comes; the earliest is found by a scan, so there is no
heap and no allocation.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from netcarlo.kernels.base.agenda import earliest
from netcarlo.kernels.base.bind import slot
from netcarlo.kernels.base.delays import DelayOut
from netcarlo.kernels.base.inline import noinline
from netcarlo.kernels.base.layout import FOREVER, STATUS_TRACE_FULL
from netcarlo.kernels.base.parameters import RowP
from netcarlo.kernels.wireless import exchange, outages, state, station
from netcarlo.kernels.wireless import leg as legs
from netcarlo.kernels.wireless.forwarding import lose, to_leg, to_queue
from netcarlo.kernels.wireless.frame import BACKWARD, FLOW_BITS, FLOW_MASK, HOP_MASK, ONE_HOP
from netcarlo.kernels.wireless.layout import (
    NOBODY,
    Flow,
    FlowOut,
    NodeOut,
    Radio,
    WifiOut,
    WifiRows,
    delay_classes,
)
from netcarlo.kernels.wireless.report import end_warm_up, report
from netcarlo.kernels.wireless.setup import set_up
from netcarlo.kernels.wireless.state import START_OF_KEYS, Phase, Word, flow_at

hosts: Any = slot("hosts")
senders: Any = slot("senders")
observer: Any = slot("observer")
"""Functions that record what happens (`observers.events`)."""
ONE_WAY: Any = slot("one_way")

FAILING: Any = slot("failing")
"""True if the gateway may go down, see `outages`."""


def outcomes(rows: WifiRows) -> int:
    """Columns of the outcomes of `rows`."""
    most_flows = int(rows.parameters[:, Radio.FLOWS].max(initial=0))
    found = WifiOut.COLUMNS + most_flows * FlowOut.COLUMNS + rows.nodes.shape[1] * NodeOut.COLUMNS
    return int(found + delay_classes(rows) * DelayOut.COLUMNS)


def scratch_words(rows: WifiRows, words: Callable[[Any, Any], Any], floats: int) -> tuple[int, int]:
    """Words of int64 scratch and of float64 memory that any row needs.

    An association needs `words(window, ring)` and `floats` of these.
    """
    most_flows = int(rows.parameters[:, Radio.FLOWS].max())
    window, ring = (int(rows.parameters[:, column].max()) for column in (RowP.WINDOW, RowP.RING))
    return state.words(rows, int(words(window, ring))), max(floats * most_flows, 1)


@noinline
def simulate(
    parameters: Any, constants: Any, nodes: Any, network: Any, losses: Any,
    m: Any, f: Any, out: Any, trace: Any,
) -> Any:  # fmt: skip
    """Simulate one row, see `models.Model`; `m` is scratch, `f` the floats of the associations."""
    set_up(parameters, nodes, network, losses, m, f)
    end = m[RowP.END]
    warm_up = m[Radio.WARM_UP] if m[Radio.WARM_UP] > 0 else np.int64(FOREVER)
    n = m[Radio.NODES]
    n_legs = m[Radio.LEGS]
    before_outage = n + n_legs + m[Radio.FLOWS]
    entities = before_outage + 1 if FAILING else before_outage
    while True:
        who, key = earliest(m, START_OF_KEYS, entities)
        t = key >> 2
        if t > end or m[Word.FULL] != 0:
            break
        if t >= warm_up:
            end_warm_up(m, warm_up)
            warm_up = np.int64(FOREVER)
        if who < n:
            _on_node(m, f, constants, losses, trace, who, key)
        elif who < n + n_legs:
            _on_leg(m, f, constants, t, who - n)
        elif FAILING and who == before_outage:
            _on_outage(m, f, constants, nodes, network, t)
        else:
            hosts.on_event(m, who - n - n_legs, f, constants, t)
        observer.on_event_end(m, f, trace, t)
    if warm_up <= end:
        end_warm_up(m, warm_up)
    report(m, nodes, out)
    if m[Word.TRACED] > trace.shape[0]:
        out[WifiOut.STATUS] = STATUS_TRACE_FULL
    return m[Word.TRACED]


def _on_node(m: Any, f: Any, constants: Any, losses: Any, trace: Any, node: Any, key: Any) -> None:
    """The next event of a node is now."""
    t = key >> 2
    phase = key & 3
    left = np.int64(NOBODY)
    if phase == Phase.START:
        station.begin(m, node, t)
        observer.on_transmission(m, f, trace, t, node)
    elif phase == Phase.END:
        left, reached, frame = exchange.end(m, losses, node, t)
        if frame != NOBODY:
            _forward(m, f, constants, t, frame)
            observer.on_received(m, f, trace, t, frame, reached)
    else:
        left, frame = exchange.time_out(m, node, t)
        if frame != NOBODY:
            lose(m, frame, np.int64(FlowOut.RETRY_LOST), node)
    if left != NOBODY:
        if not ONE_WAY and m[Radio.BACK_PRESSURE] != 0:
            _on_room(m, f, constants, t, left)
        exchange.conclude(m, left, t)


@noinline
def _on_outage(m: Any, f: Any, constants: Any, nodes: Any, network: Any, t: Any) -> None:
    """The gateway goes down, or comes back."""
    node = outages.change(m, nodes, network, t)
    if not ONE_WAY and node != NOBODY and m[Radio.BACK_PRESSURE] != 0:
        _on_room(m, f, constants, t, node)


@noinline
def _on_room(m: Any, f: Any, constants: Any, t: Any, node: Any) -> None:
    """A frame has left the queue of a node, for which sources may have waited."""
    for flow in range(m[Radio.FLOWS]):
        at = flow_at(m, flow)
        if m[at + Flow.TCP] != 0 and m[at + Flow.BEFORE] == NOBODY:
            senders.on_room(m, flow, f, constants, t, node)


@noinline
def _forward(m: Any, f: Any, constants: Any, t: Any, frame: Any) -> None:
    """A frame has crossed a link: it goes on to the next, to the leg behind the radio, or to its end host."""
    frame += ONE_HOP
    at = flow_at(m, frame & FLOW_MASK)
    backward = frame & BACKWARD
    if frame >> FLOW_BITS & HOP_MASK < (m[at + Flow.BACK] if backward else m[at + Flow.FORTH]):
        to_queue(m, t, frame)
    else:
        leg = m[at + Flow.ACK_AFTER] if backward else m[at + Flow.AFTER]
        if leg != NOBODY:
            to_leg(m, leg, t, frame)
        else:
            hosts.arrive(m, frame & FLOW_MASK, f, constants, t, frame, False)


@noinline
def _on_leg(m: Any, f: Any, constants: Any, t: Any, leg: Any) -> None:
    """The next event of a leg is now: packets leave it for the radio, or for their end host."""
    count = legs.due(m, leg, t)
    for k in range(count):
        frame = legs.leave(m, leg)
        if frame >> FLOW_BITS & HOP_MASK == 0:
            to_queue(m, t, frame)
        else:
            hosts.arrive(m, frame & FLOW_MASK, f, constants, t, frame, k < count - 1)
    legs.read_on(m, leg, t)
