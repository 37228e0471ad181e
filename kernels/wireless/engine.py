"""Engine of an 802.11 network, frame by frame: stations, flows, and wired legs.

One thread simulates a cell or a multi-hop network with UDP flows and flows of SCTP, of one TCP or of several.
Every node, leg and flow stores the time of its next event; a scan finds the earliest, so the engine needs no
heap and no allocation.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from netcarlo.kernels.base.agenda import earliest
from netcarlo.kernels.base.bind import slot
from netcarlo.kernels.base.inline import noinline
from netcarlo.kernels.base.layout import FOREVER, STATUS_TRACE_FULL
from netcarlo.kernels.base.parameters import RowP
from netcarlo.kernels.wireless import arriving, delivery, outages, state
from netcarlo.kernels.wireless import leg as legs
from netcarlo.kernels.wireless.forwarding import to_queue
from netcarlo.kernels.wireless.frame import FLOW_BITS, FLOW_MASK, HOP_MASK
from netcarlo.kernels.wireless.layout import (
    NOBODY,
    FlowOut,
    Radio,
    WifiOut,
    WifiRows,
    of_classes,
)
from netcarlo.kernels.wireless.report import end_warm_up, report
from netcarlo.kernels.wireless.setup import set_up
from netcarlo.kernels.wireless.state import START_OF_KEYS, Word

hosts: Any = slot("hosts")
node: Any = slot("node")
"""Events of a node, a module of the MAC: `dcf.node` or `edca.node`."""
observer: Any = slot("observer")
"""Functions that record what happens (`observers.events`)."""
ONE_WAY: Any = slot("one_way")

ARRIVALS: Any = slot("arrivals")
"""True if flows arrive and depart, see `arriving`."""

FAILING: Any = slot("failing")
"""True if the gateway may go down, see `outages`."""


def outcomes(rows: WifiRows) -> int:
    """Return the number of columns of the outcomes of `rows`."""
    most_flows = int(rows.parameters[:, Radio.FLOWS].max(initial=0))
    found = WifiOut.COLUMNS + most_flows * FlowOut.COLUMNS + rows.nodes.shape[1] * rows.node_columns
    return int(found + of_classes(rows))


def scratch_words(
    rows: WifiRows, words: Callable[[Any, Any], Any], floats: int, queues: Any
) -> tuple[int, int]:
    """Return the words of int64 scratch and of float64 memory that any row needs.

    An association needs `words(window, ring)` and `floats` of these; the queues of a row `queues` [n].
    """
    most_flows = int(rows.parameters[:, Radio.FLOWS].max())
    window, ring = (int(rows.parameters[:, column].max()) for column in (RowP.WINDOW, RowP.RING))
    return state.words(rows, int(words(window, ring)), queues), max(floats * most_flows, 1)


@noinline
def simulate(
    parameters: Any, constants: Any, nodes: Any, network: Any, losses: Any,
    m: Any, f: Any, out: Any, trace: Any,
) -> Any:  # fmt: skip
    """Simulate one row, see `models.Model`; `m` is scratch, `f` the floats of the associations."""
    set_up(parameters, nodes, network, losses, m, f)
    if ARRIVALS:
        arriving.prepare(m, constants, losses)
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
            node.on_event(m, f, constants, losses, trace, who, key)
        elif who < n + n_legs:
            _on_leg(m, f, constants, t, who - n)
        elif FAILING and who == before_outage:
            _on_outage(m, f, constants, nodes, network, t)
        elif ARRIVALS and arriving.is_due(m, who - n - n_legs, t):
            arriving.on_arrival(m, f, constants, losses, t, who - n - n_legs)
        else:
            hosts.on_event(m, who - n - n_legs, f, constants, t)
        observer.on_event_end(m, f, trace, t)
    if warm_up <= end:
        end_warm_up(m, warm_up)
    report(m, nodes, out)
    if m[Word.TRACED] > trace.shape[0]:
        out[WifiOut.STATUS] = STATUS_TRACE_FULL
    return m[Word.TRACED]


@noinline
def _on_outage(m: Any, f: Any, constants: Any, nodes: Any, network: Any, t: Any) -> None:
    """Process the start or the end of an outage of the gateway."""
    gateway = outages.change(m, nodes, network, t)
    if gateway != NOBODY:
        node.on_return(m, f, constants, t, gateway)
    if not ONE_WAY and gateway != NOBODY and m[Radio.BACK_PRESSURE] != 0:
        delivery.on_room(m, f, constants, t, gateway)


@noinline
def _on_leg(m: Any, f: Any, constants: Any, t: Any, leg: Any) -> None:
    """Process the next event of a leg: packets leave it for the radio, or for their end host."""
    count = legs.due(m, leg, t)
    for k in range(count):
        frame = legs.leave(m, leg, t)
        if frame >> FLOW_BITS & HOP_MASK == 0:
            to_queue(m, t, frame)
        else:
            hosts.arrive(m, frame & FLOW_MASK, f, constants, t, frame, k < count - 1)
    legs.read_on(m, leg, t)
