"""All handovers of a run: their schedule, and the timeline of each by the protocol.

A protocol is a module with `plan(parameters, m, delays, at, k, trigger, back) -> prepared`, which fills the
words of handover `k` (`timeline`). DOWN, UP, INTER and DETOUR are set; other times are FOREVER and numbers 0.
The host may signal from `trigger` on (FOREVER: not before the link goes down); `back` is 1 for a return. It
returns 1 if the new router was prepared before the link went down.
"""

from typing import Any

import numpy as np

from netcarlo.kernels.base.inline import noinline
from netcarlo.kernels.base.layout import (
    FHMIPV6,
    FMIPV6,
    FOREVER,
    HIMIPV6,
    HMIPV6,
    MIPV6,
    S_BINDING,
    S_MIP,
    Hop,
    Out,
)
from netcarlo.kernels.base.parameters import MobileP, RowP
from netcarlo.kernels.path.mobility import fhmipv6, fmipv6, himipv6, hmipv6, mipv6, s_binding, s_mip
from netcarlo.kernels.path.mobility.schedule import JOURNEY, Journey, depart
from netcarlo.kernels.path.mobility.timeline import DELAYS, WORDS, Delay, Handover

STATE_WORDS = DELAYS + JOURNEY
"""Words of scratch that all handovers share."""


@noinline
def plan_all(
    parameters: Any, hops: Any, outages: Any, m: Any, out: Any, delays: Any, table: Any, radio: Any
) -> Any:
    """Fill the `table` of timelines in scratch (`WORDS` each) and count in `out`; return the number of
    handovers.

    The words from `delays` on are `Delay` and the journey; `radio` is the number of the radio hop.
    """
    journey = delays + DELAYS
    _fill_delays(parameters, hops, m, delays, radio)
    # No loop over the words: libnvvm 13.0 unrolls it and then overwrites other words of `m`.
    m[journey + Journey.HERE] = 0
    m[journey + Journey.REGULAR] = 0
    m[journey + Journey.CELL] = 0
    m[journey + Journey.BACK] = 0
    m[journey + Journey.FALSE] = 0
    m[journey + Journey.TRIGGER] = 0
    m[journey + Journey.RETURN] = 0
    for k in range(parameters[MobileP.HANDOVERS]):
        at = table + k * WORDS
        down = depart(parameters, outages, m, journey, at, k, radio)
        if down > parameters[RowP.END]:
            return np.int64(k)
        _clear(m, at)
        m[at + Handover.DETOUR] = m[at + Handover.INTER] * parameters[MobileP.MAP_TO_MAP]
        trigger = m[journey + Journey.TRIGGER]
        if trigger >= down:
            trigger = np.int64(FOREVER)
        prepared = _plan(parameters, m, delays, at, k, trigger, m[journey + Journey.RETURN])
        if m[journey + Journey.FALSE] == 1:
            out[Out.FALSE_ALARMS] += 1
            _cancel(parameters, m, at, m[journey + Journey.HERE])
        else:
            out[Out.HANDOVERS] += 1
            out[Out.PREPARED] += prepared
        m[at + Handover.BEGIN] = m[at + Handover.DOWN]
        for word in (Handover.AT_CN, Handover.AT_MAP, Handover.COPY, Handover.FORWARD, Handover.ASTRAY):
            m[at + Handover.BEGIN] = min(m[at + Handover.BEGIN], m[at + word])
    return np.int64(parameters[MobileP.HANDOVERS])


@noinline
def _fill_delays(parameters: Any, hops: Any, m: Any, delays: Any, radio: Any) -> None:
    there, back = np.int64(0), np.int64(0)
    for hop in range(radio):
        there += hops[0, hop, Hop.DELAY]
        back += hops[0, hop, Hop.R_DELAY]
    home = parameters[MobileP.HOME_AGENT]
    to_host = parameters[MobileP.MAP_TO_AR] + hops[0, radio, Hop.DELAY]
    to_map = parameters[MobileP.MAP_TO_AR] + hops[0, radio, Hop.R_DELAY]
    m[delays + Delay.RADIO_DOWN] = hops[0, radio, Hop.DELAY]
    m[delays + Delay.RADIO_UP] = hops[0, radio, Hop.R_DELAY]
    m[delays + Delay.TO_HOST] = to_host
    m[delays + Delay.TO_MAP] = to_map
    m[delays + Delay.TO_SENDER] = to_map + back
    m[delays + Delay.HOME_TRIP] = to_map + to_host + 2 * home
    m[delays + Delay.ROUTABILITY] = to_map + to_host + max(4 * home, there + back)


@noinline
def _clear(m: Any, at: Any) -> None:
    """Set a handover that changes nothing: all words except those of the host's movement."""
    for word in range(Handover.DETOUR, WORDS):
        m[at + word] = 0
    for word in (
        Handover.AT_CN, Handover.AT_MAP, Handover.COPY, Handover.FORWARD, Handover.KEPT, Handover.RELEASE,
        Handover.ASTRAY,
    ):  # fmt: skip
        m[at + word] = FOREVER


@noinline
def _plan(parameters: Any, m: Any, delays: Any, at: Any, k: Any, trigger: Any, back: Any) -> Any:
    """Write the timeline with the protocol of the row."""
    protocol = parameters[MobileP.HANDOVER]
    if protocol == MIPV6:
        return mipv6.plan(parameters, m, delays, at, k, trigger, back)
    if protocol == HMIPV6:
        return hmipv6.plan(parameters, m, delays, at, k, trigger, back)
    if protocol == FMIPV6:
        return fmipv6.plan(parameters, m, delays, at, k, trigger, back)
    if protocol == S_BINDING:
        return s_binding.plan(parameters, m, delays, at, k, trigger, back)
    if protocol == S_MIP:
        return s_mip.plan(parameters, m, delays, at, k, trigger, back)
    if protocol == FHMIPV6:
        return fhmipv6.plan(parameters, m, delays, at, k, trigger, back)
    if protocol == HIMIPV6:
        return himipv6.plan(parameters, m, delays, at, k, trigger, back)
    return 0


@noinline
def _cancel(parameters: Any, m: Any, at: Any, undone: Any) -> None:
    """Turn a handover into a false alarm that ends at `undone` [ns]; packets forwarded early are lost until
    then."""
    astray = m[at + Handover.FORWARD]
    if m[at + Handover.AT_MAP] < m[at + Handover.DOWN]:
        astray = min(astray, m[at + Handover.AT_MAP] + parameters[MobileP.MAP_TO_AR])
    _clear(m, at)
    m[at + Handover.INTER] = 0
    m[at + Handover.ASTRAY] = astray
    for word in (Handover.DOWN, Handover.UP, Handover.RELEASE):
        m[at + word] = undone
