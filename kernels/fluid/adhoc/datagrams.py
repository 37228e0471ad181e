"""UDP over the route in use of an ad hoc network: rate, queue at the source, and losses.

`m` and `s` are scratch, `g` the floats of the flow, see `state`.
"""

from typing import Any

import numpy as np

from netcarlo.kernels.adhoc.discovery import JITTER
from netcarlo.kernels.adhoc.layout import Manet, ManetOut
from netcarlo.kernels.adhoc.state import BUFFER, COUNTS, Word
from netcarlo.kernels.base.inline import noinline
from netcarlo.kernels.base.layout import NEVER
from netcarlo.kernels.base.parameters import RowP, UdpP
from netcarlo.kernels.fluid.adhoc import chain, exchange, route
from netcarlo.kernels.fluid.adhoc.errors import give_up, lose
from netcarlo.kernels.fluid.adhoc.state import AirFloat, AirWord
from netcarlo.kernels.fluid.state import ONE, ONE_BITS, FlowWord


def prepare(m: Any, s: Any, g: Any) -> None:
    """Do nothing: UDP has no state."""


@noinline
def begin(m: Any, s: Any, g: Any, times: Any, places: Any) -> Any:
    """Find the first route; return the time at which the source has it [ns]."""
    t = route.discover(m, s, times, places, m[RowP.START])
    _wait(m, s, m[RowP.START], t)
    return t


def _sent_before(m: Any, t: Any) -> Any:
    """Return the number of datagrams that the source generates before `t` [ns]."""
    every = max(m[UdpP.INTERVAL], 1)
    last = min(t, m[UdpP.STOP])
    return min(max((last - m[RowP.START] + every - 1) // every, np.int64(0)), m[RowP.LIMIT])


def _come(m: Any, t: Any, until: Any) -> Any:
    """Return the datagrams that the source generates from `t` to `until` [packet, ONE_BITS]."""
    return (_sent_before(m, until) - _sent_before(m, t)) << ONE_BITS


@noinline
def _wait(m: Any, s: Any, t: Any, until: Any) -> None:
    """Buffer the datagrams generated from `t` to `until` [ns] without a route; drop those beyond BUFFER
    packets."""
    waiting = s[AirWord.BACKLOG] + _come(m, t, until)
    over = max(waiting - (BUFFER << ONE_BITS), np.int64(0))
    over = (over + ONE - 1) >> ONE_BITS
    m[COUNTS + ManetOut.DROPS_BUFFER] += over
    s[AirWord.BACKLOG] = max(waiting - (over << ONE_BITS), np.int64(0))


@noinline
def advance(m: Any, s: Any, g: Any, times: Any, places: Any, losses: Any, t: Any) -> Any:
    """Simulate the flow from `t` until a link of the route breaks or the run ends; return that time [ns]."""
    route.move_nodes(m, s, times, places, t)
    if m[Word.ROUTE] == 0 or s[AirWord.BROKEN] > 0:
        return _cross(m, s, g, times, places, t)
    every = 1.0 / float(max(m[UdpP.INTERVAL], 1))
    if s[AirWord.CHANGED] == 1:
        s[AirWord.CHANGED] = 0
        chain.weigh(m, g, every)
    rate = 1.0 / g[AirFloat.SERVICE]
    if s[AirWord.BACKLOG] < ONE:
        rate = min(rate, every)
    breaks = rate * (g[AirFloat.NOISE] + g[AirFloat.HIDDEN])
    length, given_up = m[RowP.END] - t, False
    if g[AirFloat.HAZARD] < breaks * float(length):
        length = np.int64(g[AirFloat.HAZARD] / breaks)
        given_up = True
    until = route.move_until(m, s, times, places, t + length)
    given_up = given_up and until == t + length
    _carry(m, s, g, losses, t, until)
    g[AirFloat.HAZARD] -= breaks * float(until - t)
    if given_up:
        again = min(give_up(m, s, g, until), m[RowP.END])
        _wait(m, s, until, again)
        until = again
    return until


@noinline
def _carry(m: Any, s: Any, g: Any, losses: Any, t: Any, until: Any) -> None:
    """Send buffered and new datagrams from `t` to `until` [ns], as many as the route carries."""
    waiting = s[AirWord.BACKLOG] + _come(m, t, until)
    goes = min(waiting, np.int64(float(until - t) / g[AirFloat.SERVICE] * ONE))
    room = max((m[Manet.QUEUE] + 1) << ONE_BITS, s[AirWord.BACKLOG])
    over = (max(waiting - goes - room, np.int64(0)) + ONE - 1) >> ONE_BITS
    m[COUNTS + ManetOut.DROPS_QUEUE] += over
    s[AirWord.BACKLOG] = max(waiting - goes - (over << ONE_BITS), np.int64(0))
    s[FlowWord.SENT] += goes
    m[COUNTS + ManetOut.HOPS] += goes * chain.hops_of(m)
    m[COUNTS + ManetOut.DROPS_RANDOM] += lose(m, s, losses, goes)
    if m[COUNTS + ManetOut.COMPLETED] == NEVER and _delivered(m, s) >= m[RowP.LIMIT]:
        m[COUNTS + ManetOut.COMPLETED] = until
        m[COUNTS + ManetOut.FINISHED] = until


def _delivered(m: Any, s: Any) -> Any:
    """Return the datagrams delivered so far [packet]."""
    return (s[FlowWord.SENT] >> ONE_BITS) - m[COUNTS + ManetOut.DROPS_RANDOM]


@noinline
def _cross(m: Any, s: Any, g: Any, times: Any, places: Any, t: Any) -> Any:
    """Simulate the break of a link at `t` until another route is found; return that time [ns].

    Packets that relays hold when no other route is known at once are dropped.
    """
    relayed = s[AirWord.BROKEN] > 1
    told = min(t + (exchange.patience(m) if m[Word.ROUTE] != 0 else np.int64(0)), m[RowP.END])
    again = route.discover(m, s, times, places, told)
    if relayed and again > told + JITTER:  # packets at the relays are dropped
        s[AirWord.BACKLOG] += _come(m, t, told)
        hits = min(s[AirWord.BACKLOG] >> ONE_BITS, 1 + exchange.patience(m) // exchange.of_data(m))
        m[COUNTS + ManetOut.DROPS_ROUTE] += hits
        s[AirWord.BACKLOG] -= hits << ONE_BITS
        t = told
    _wait(m, s, t, again)
    return again


@noinline
def is_done(m: Any) -> Any:
    """Return whether a finite stream has been delivered."""
    return m[COUNTS + ManetOut.COMPLETED] != NEVER


@noinline
def report(m: Any, s: Any, out: Any) -> None:
    """Write the outcomes of the datagrams to `out` (`ManetOut`)."""
    arrived = s[FlowWord.SENT] >> ONE_BITS
    out[ManetOut.SENT] = _sent_before(m, m[RowP.END])
    out[ManetOut.RECEIVED] = max(_delivered(m, s), np.int64(0))
    out[ManetOut.DELIVERED] = out[ManetOut.RECEIVED]
    out[ManetOut.HOPS] = m[COUNTS + ManetOut.HOPS] >> ONE_BITS
    out[ManetOut.ARRIVED] = arrived
    out[ManetOut.FALSE_BREAKS] = s[AirWord.GIVEN_UP] - 1
