"""All handovers of a run: the schedule, and for each the timeline that the protocol makes of it.

A protocol is a file with `make(dev, signalling)`, which compiles
`plan(parameters, m, legs, at, k, trigger, back) -> prepared`: it fills the words `at` of scratch (see
`timeline`; DOWN, UP, INTER, DETOUR are there, times are FOREVER and numbers 0) for handover `k`.
The host may signal from `trigger` on (FOREVER: not before the link goes down); `back` is 1 for a return.
It returns 1 if the new router was prepared before the link went down.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from netcarlo.kernels.base.inline import cold
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
    P,
)
from netcarlo.kernels.path.mobility import (
    fhmipv6,
    fmipv6,
    himipv6,
    hmipv6,
    mipv6,
    s_binding,
    s_mip,
    schedule,
    timeline,
)
from netcarlo.kernels.path.mobility.signalling import make_signalling
from netcarlo.kernels.path.mobility.timeline import (
    ASTRAY,
    AT_CN,
    AT_MAP,
    BEGIN,
    COPY,
    DETOUR,
    DOWN,
    FORWARD,
    INTER,
    KEPT,
    RELEASE,
    UP,
    WORDS,
)

_TIMES = (AT_CN, AT_MAP, COPY, FORWARD, KEPT, RELEASE, ASTRAY)


def make_handovers(dev: Callable[[Any], Any]) -> Any:
    """Compile `plan_all(parameters, hops, outages, m, legs, journey, table, out, radio) -> count`.

    It fills `legs` and the `table` of timelines (`WORDS` each) in scratch and counts in `out`; `radio` is
    the number of the radio hop.
    """
    signalling = make_signalling(dev)
    depart = schedule.make_schedule(dev)
    plan_mipv6 = mipv6.make(dev, signalling)
    plan_hmipv6 = hmipv6.make(dev, signalling)
    plan_fmipv6 = fmipv6.make(dev, signalling)
    plan_s_binding = s_binding.make(dev, signalling)
    plan_s_mip = s_mip.make(dev, signalling)
    plan_fhmipv6 = fhmipv6.make(dev, signalling)
    plan_himipv6 = himipv6.make(dev, signalling)

    @cold
    def plan(parameters: Any, m: Any, legs: Any, at: Any, k: Any, trigger: Any, back: Any) -> Any:
        protocol = parameters[P.HANDOVER]
        if protocol == MIPV6:
            return plan_mipv6(parameters, m, legs, at, k, trigger, back)
        if protocol == HMIPV6:
            return plan_hmipv6(parameters, m, legs, at, k, trigger, back)
        if protocol == FMIPV6:
            return plan_fmipv6(parameters, m, legs, at, k, trigger, back)
        if protocol == S_BINDING:
            return plan_s_binding(parameters, m, legs, at, k, trigger, back)
        if protocol == S_MIP:
            return plan_s_mip(parameters, m, legs, at, k, trigger, back)
        if protocol == FHMIPV6:
            return plan_fhmipv6(parameters, m, legs, at, k, trigger, back)
        if protocol == HIMIPV6:
            return plan_himipv6(parameters, m, legs, at, k, trigger, back)
        return 0

    plan = dev(plan)

    @cold
    def fill_legs(parameters: Any, hops: Any, m: Any, legs: Any, radio: Any) -> None:
        there, back = np.int64(0), np.int64(0)
        for hop in range(radio):
            there += hops[0, hop, Hop.DELAY]
            back += hops[0, hop, Hop.R_DELAY]
        home = parameters[P.HOME_AGENT]
        m[legs + timeline.RADIO_DOWN] = hops[0, radio, Hop.DELAY]
        m[legs + timeline.RADIO_UP] = hops[0, radio, Hop.R_DELAY]
        to_host = parameters[P.MAP_TO_AR] + hops[0, radio, Hop.DELAY]
        to_map = parameters[P.MAP_TO_AR] + hops[0, radio, Hop.R_DELAY]
        m[legs + timeline.TO_HOST] = to_host
        m[legs + timeline.TO_MAP] = to_map
        m[legs + timeline.TO_SENDER] = to_map + back
        m[legs + timeline.HOME_TRIP] = to_map + to_host + 2 * home
        m[legs + timeline.ROUTABILITY] = to_map + to_host + max(4 * home, there + back)

    fill_legs = dev(fill_legs)

    @cold
    def clear(m: Any, at: Any) -> None:
        for word in range(DETOUR, WORDS):
            m[at + word] = 0
        for word in _TIMES:
            m[at + word] = FOREVER

    clear = dev(clear)

    @cold
    def mistake(parameters: Any, m: Any, at: Any, undone: Any) -> None:
        # The host stays: what a predictive protocol has sent ahead is lost until that is undone.
        astray = m[at + FORWARD]
        if m[at + AT_MAP] < m[at + DOWN]:
            astray = min(astray, m[at + AT_MAP] + parameters[P.MAP_TO_AR])
        clear(m, at)
        m[at + INTER] = 0
        m[at + ASTRAY] = astray
        for word in (DOWN, UP, RELEASE):
            m[at + word] = undone

    mistake = dev(mistake)

    @cold
    def plan_all(
        parameters: Any, hops: Any, outages: Any, m: Any, legs: Any, journey: Any, table: Any, out: Any,
        radio: Any,
    ) -> Any:  # fmt: skip
        fill_legs(parameters, hops, m, legs, radio)
        for i in range(schedule.JOURNEY):
            m[journey + i] = 0
        for k in range(parameters[P.HANDOVERS]):
            at = table + k * WORDS
            down = depart(parameters, outages, m, journey, at, k, radio)
            if down > parameters[P.END]:
                return np.int64(k)
            clear(m, at)
            m[at + DETOUR] = m[at + INTER] * parameters[P.MAP_TO_MAP]
            trigger = m[journey + schedule.TRIGGER]
            if trigger >= down:
                trigger = np.int64(FOREVER)
            prepared = plan(parameters, m, legs, at, k, trigger, m[journey + schedule.RETURN])
            if m[journey + schedule.FALSE] == 1:
                out[Out.FALSE_ALARMS] += 1
                mistake(parameters, m, at, m[journey + schedule.HERE])
            else:
                out[Out.HANDOVERS] += 1
                out[Out.PREPARED] += prepared
            m[at + BEGIN] = m[at + DOWN]
            for word in (AT_CN, AT_MAP, COPY, FORWARD, ASTRAY):
                m[at + BEGIN] = min(m[at + BEGIN], m[at + word])
        return np.int64(parameters[P.HANDOVERS])

    return dev(plan_all)
