"""Engine of a mobile ad hoc network with one flow: mobility, link changes, route breaks and transport.

One thread simulates one network. The next event is the earliest of the nodes' keys, the flow and the
topology. A scan finds it, so the engine needs no heap and no allocation. `m` is scratch, `f` the sender's
floats, `t` the time [ns].
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from netcarlo.kernels.adhoc import discovery, frames, medium, routing, topology
from netcarlo.kernels.adhoc.frames import goes_forth, hop_of
from netcarlo.kernels.adhoc.layout import IDEAL, OBSERVE_COMPLETION, Manet, ManetOut, ManetRows, NodeOut
from netcarlo.kernels.adhoc.report import write_out
from netcarlo.kernels.adhoc.size import SizeSlots
from netcarlo.kernels.adhoc.start import lay_out, words
from netcarlo.kernels.adhoc.state import (
    COUNTS,
    NO_KEY,
    NODE_WORDS,
    NODES,
    PHASE_BITS,
    PHASE_MASK,
    Node,
    Outcome,
    Phase,
    Word,
    hosts,
    observer,
    routes,
    sets,
)
from netcarlo.kernels.adhoc.station import back_off, next_frame
from netcarlo.kernels.adhoc.topology import Change
from netcarlo.kernels.base.agenda import earliest
from netcarlo.kernels.base.inline import noinline
from netcarlo.kernels.base.layout import (
    NEVER,
    STATUS_NO_START,
    STATUS_OK,
    STATUS_RING_FULL,
    STATUS_TRACE_FULL,
)
from netcarlo.kernels.base.parameters import RowP


def outcomes(rows: ManetRows) -> int:
    """Return the number of columns of the outcomes of `rows`."""
    return int(ManetOut.COLUMNS + rows.times.shape[1] * NodeOut.COLUMNS)


def scratch_words(
    rows: ManetRows, of_hosts: Callable[[Any, Any], Any], floats: int, size: SizeSlots
) -> tuple[int, int]:
    """Return the words of int64 scratch and of float64 memory that any row needs.

    The hosts need `floats`, and `of_hosts` words of a window and ring.
    """
    window, ring = (int(rows.parameters[:, column].max()) for column in (RowP.WINDOW, RowP.RING))
    return words(rows, int(of_hosts(window, ring)), size), max(floats, 1)


@noinline
def simulate(
    parameters: Any, constants: Any, times: Any, places: Any, losses: Any,
    m: Any, f: Any, out: Any, trace: Any,
) -> Any:  # fmt: skip
    """Simulate one row; see `models` for the arguments. Return the number of rows of the trace."""
    lay_out(parameters, times, places, losses, m, f)
    if m[Word.NO_START] != 0:
        out[ManetOut.STATUS] = STATUS_NO_START
        return np.int64(0)
    hosts.first_event(m, f, constants, trace)
    observer.on_start(m, trace)
    end = _run(m, f, constants, times, places, losses, trace)
    topology.integrate(m, end)
    write_out(m, end, out)
    if m[Word.FULL] != 0:
        out[ManetOut.STATUS] = STATUS_RING_FULL
    elif m[Word.TRACED] > trace.shape[0]:
        out[ManetOut.STATUS] = STATUS_TRACE_FULL
    else:
        out[ManetOut.STATUS] = STATUS_OK
    return m[Word.TRACED]


def _run(m: Any, f: Any, constants: Any, times: Any, places: Any, losses: Any, trace: Any) -> Any:
    """Process all events in order of time; simultaneous events of the topology first, then by phase and node.

    Returns the end of the run [ns]. The run ends at once if it is invalid and must be repeated.
    """
    end = m[RowP.END]
    n = m[Manet.NODES]
    completion = m[Manet.OBSERVE] == OBSERVE_COMPLETION
    while True:
        who, key = earliest(m, m[Word.KEYS], n + 1)
        t = min(key >> PHASE_BITS, m[Word.TOPOLOGY_AT])
        if t > end:
            break
        if m[Word.TOPOLOGY_AT] == t:
            _at_topology(m, times, places, t, trace)
        elif who == n:
            hosts.on_event(m, f, constants, t, trace)
        else:
            _at_node(m, f, constants, losses, who, key, trace)
        if m[Word.FULL] != 0 or (completion and m[COUNTS + ManetOut.FINISHED] != NEVER):
            end = t
            break
    return end


@noinline
def _at_topology(m: Any, times: Any, places: Any, t: Any, trace: Any) -> None:
    """Process the end of a leg, or a change of a link or sense bit."""
    what, i, j = topology.event(m, times, places, t)
    comes = what == Change.LINK and sets.holds(m, NODES + i * NODE_WORDS + Node.LINK, j)
    if comes and m[Manet.ROUTING] == IDEAL:
        discovery.link_comes(m, t)
    if what == Change.LEG:
        observer.on_leg(m, trace, t, i)
    elif what == Change.LINK:
        observer.on_link(m, trace, t, i, j)


@noinline
def _at_node(m: Any, f: Any, constants: Any, losses: Any, i: Any, key: Any, trace: Any) -> None:
    """Process an event of node i; `key` holds its time and phase."""
    t = key >> PHASE_BITS
    phase = key & PHASE_MASK
    if phase == Phase.END:
        _at_end(m, f, constants, losses, i, t, trace)
    elif phase == Phase.DELAYED:
        discovery.delayed(m, i, t)
    elif phase == Phase.DUE:
        discovery.due(m, i, t)
    elif phase == Phase.CHECK:
        discovery.check(m, i, t)
    else:
        _at_start(m, f, losses, i, t, trace)


@noinline
def _at_start(m: Any, f: Any, losses: Any, i: Any, t: Any, trace: Any) -> None:
    """Start the transmissions of node i and of all nodes whose backoff ends at the same time."""
    observer.on_frames(m, f, trace, t, medium.start(m, losses, i, t))


@noinline
def _at_end(m: Any, f: Any, constants: Any, losses: Any, i: Any, t: Any, trace: Any) -> None:
    """End the exchange that node i started."""
    at = NODES + i * NODE_WORDS
    m[at + Node.END] = NO_KEY
    sets.write(m, Word.ON_AIR, sets.remove(sets.read(m, Word.ON_AIR), i))
    outcome = m[at + Node.OUTCOME]
    frame = frames.read(m, at + Node.FRAME)
    fresh = m[at + Node.RECEIVED] == 0
    if outcome == Outcome.BROADCAST:
        heard = sets.read(m, at + Node.HEARD)
        next_frame(m, i, t)
        for n in range(m[Manet.NODES]):
            if sets.has(heard, n):
                routing.hear_request(m, np.int64(n), t, frame)
    elif outcome == Outcome.OK:
        m[at + Node.SHORT] = 0
        m[at + Node.LONG] = 0
        m[at + Node.CW] = m[Manet.CW_MIN]
        next_frame(m, i, t)
        if fresh:
            _hand_over(m, f, constants, losses, i, t, frame, trace)
    else:
        if outcome == Outcome.NO_RTS or outcome == Outcome.NO_CTS:
            m[at + Node.SHORT] += 1
            failed = m[at + Node.SHORT] >= m[Manet.SHORT_RETRY]
        else:
            m[at + Node.SHORT] = 0
            m[at + Node.LONG] += 1
            failed = m[at + Node.LONG] >= m[Manet.LONG_RETRY]
            if outcome == Outcome.NO_ACK and fresh:
                m[at + Node.RECEIVED] = 1
                _hand_over(m, f, constants, losses, i, t, frame, trace)
        if failed:
            _give_up(m, f, constants, i, t, trace)
        else:
            m[at + Node.CW] = min(2 * m[at + Node.CW] + 1, m[Manet.CW_MAX])
            back_off(m, i, t)


@noinline
def _hand_over(m: Any, f: Any, constants: Any, losses: Any, i: Any, t: Any, frame: Any, trace: Any) -> None:
    """Deliver the frame of node i to its next hop."""
    j = routes.node(frame.route, hop_of(frame.head) + 1)
    if routing.hear(m, j, t, frame):
        if goes_forth(frame.head):
            hosts.at_sink(m, f, constants, losses, t, frame.head, trace)
        else:
            hosts.at_source(m, f, constants, losses, t, frame.head, trace)
    elif m[Word.NOTICE] != 0:
        hosts.on_notice(m, f, constants, t, trace)
    routing.overheard(m, i, j, t, frame)


@noinline
def _give_up(m: Any, f: Any, constants: Any, i: Any, t: Any, trace: Any) -> None:
    """Discard the frame of node i after its last attempt, and treat the link as broken."""
    at = NODES + i * NODE_WORDS
    m[at + Node.SHORT] = 0
    m[at + Node.LONG] = 0
    m[at + Node.CW] = m[Manet.CW_MIN]
    frame = frames.read(m, at + Node.FRAME)
    j = medium.next_node(m, i)
    m[at + Node.SERVING] = 0
    observer.on_retry_limit(m, f, trace, t, frame.head, i)
    routing.broken(m, i, j, t, frame, m[at + Node.RECEIVED] != 0)
    if m[at + Node.SERVING] == 0:
        next_frame(m, i, t)
    if m[Word.NOTICE] != 0:
        hosts.on_notice(m, f, constants, t, trace)
