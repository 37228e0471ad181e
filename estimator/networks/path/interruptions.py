"""Interruptions of paths in a replication: outages of hops, and handovers of a mobile host."""

from collections.abc import Iterator

import numpy as np

from netcarlo.kernels.base.layout import FOREVER, NS, Hop, Rows
from netcarlo.kernels.base.parameters import MobileP, RowP
from netcarlo.kernels.path.mobility.schedule import JOURNEY, Journey, depart
from netcarlo.kernels.path.mobility.timeline import WORDS, Handover
from netcarlo.networks.interruption import Interruption, Kind


def of_rows(rows: Rows) -> list[Interruption]:
    """Return the interruptions of the first row that begin before its observation ends, in order of time."""
    end = int(rows.parameters[0, RowP.END])
    mobile = rows.parameters[0, MobileP.HANDOVER] > 0
    radio = int(rows.hops[0, 0, :, Hop.PRESENT].sum()) - 1
    found = list(_handovers(rows, radio)) if mobile else []
    for path, hops in enumerate(rows.outages[0]):
        for hop, outages in enumerate(hops):
            if mobile and (path, hop) == (0, radio):
                continue  # this hop has the schedule of handovers
            found += [_seconds("outage", *span) for span in outages.tolist() if span[0] < min(end, FOREVER)]
    return sorted(set(found), key=lambda each: each.start_s)


def _handovers(rows: Rows, radio: int) -> Iterator[Interruption]:
    """Yield the handovers of the first row, computed by the functions of the kernel without compilation."""
    parameters, outages = rows.parameters[0], rows.outages[0]
    m = np.zeros(JOURNEY + WORDS, np.int64)
    for k in range(int(parameters[MobileP.HANDOVERS])):
        down = depart(parameters, outages, m, 0, JOURNEY, k, radio)
        if down > parameters[RowP.END]:
            return
        if m[Journey.FALSE]:
            yield _seconds("false alarm", m[JOURNEY + Handover.DOWN], m[Journey.HERE])
        else:
            kind: Kind = "handover between MAPs" if m[JOURNEY + Handover.INTER] else "handover"
            yield _seconds(kind, m[JOURNEY + Handover.DOWN], m[JOURNEY + Handover.UP])


def _seconds(kind: Kind, start: int, end: int) -> Interruption:
    return Interruption(kind, float(start / NS), float(end / NS))
