"""When links are down in a replication: outages of hops, and the handovers of a mobile host."""

from collections.abc import Iterator
from typing import Literal, NamedTuple

import numpy as np

from netcarlo.kernels.base.layout import FOREVER, Hop, P, Rows
from netcarlo.kernels.path.mobility.schedule import FALSE, HERE, JOURNEY, make_schedule
from netcarlo.kernels.path.mobility.timeline import DOWN, INTER, UP, WORDS
from netcarlo.scenario import Scenario
from netcarlo.simulation.ensemble import build
from netcarlo.transport.tcp import NS

Kind = Literal["outage", "handover", "handover between MAPs", "false alarm"]


class Interruption(NamedTuple):
    """A time in which a link carries nothing; of a false alarm, when the host has noticed it."""

    kind: Kind
    start_s: float
    end_s: float


def interruptions(scenario: Scenario, *, replication: int = 0) -> list[Interruption]:
    """Those of a replication over paths that begin before it ends, in order of time; none elsewhere."""
    rows = build(scenario, first=replication, replications=1).rows
    return of_rows(rows) if isinstance(rows, Rows) else []


def of_rows(rows: Rows) -> list[Interruption]:
    """Those of the first row that begin before its observation ends, in order of time."""
    end = int(rows.parameters[0, P.END])
    mobile = rows.parameters[0, P.HANDOVER] > 0
    radio = int(rows.hops[0, 0, :, Hop.PRESENT].sum()) - 1
    found = list(_handovers(rows, radio)) if mobile else []
    for path, hops in enumerate(rows.outages[0]):
        for hop, outages in enumerate(hops):
            if mobile and (path, hop) == (0, radio):
                continue  # there stands the schedule of the handovers
            found += [_seconds("outage", *span) for span in outages.tolist() if span[0] < min(end, FOREVER)]
    return sorted(set(found), key=lambda each: each.start_s)


def _handovers(rows: Rows, radio: int) -> Iterator[Interruption]:
    """The schedule by which the kernel moves the host, from the same functions, not compiled."""
    depart = make_schedule(lambda function: function)
    parameters, outages = rows.parameters[0], rows.outages[0]
    m = np.zeros(JOURNEY + WORDS, np.int64)
    for k in range(int(parameters[P.HANDOVERS])):
        down = depart(parameters, outages, m, 0, JOURNEY, k, radio)
        if down > parameters[P.END]:
            return
        if m[FALSE]:
            yield _seconds("false alarm", m[JOURNEY + DOWN], m[HERE])
        else:
            kind: Kind = "handover between MAPs" if m[JOURNEY + INTER] else "handover"
            yield _seconds(kind, m[JOURNEY + DOWN], m[JOURNEY + UP])


def _seconds(kind: Kind, start: int, end: int) -> Interruption:
    return Interruption(kind, float(start / NS), float(end / NS))
