"""Delays and losses of the flows of shared networks, for the outcomes of their classes."""

from typing import Any

import numpy as np

from netcarlo.kernels.base.delays import DelayOut
from netcarlo.kernels.base.layout import FOREVER
from netcarlo.kernels.senders import UDP
from netcarlo.kernels.shared.classes import ClassOut
from netcarlo.kernels.shared.layout import Flow, FlowOut, LinkOut, SharedOut, SharedRows, gauges
from netcarlo.kernels.shared.layout import classes as that_come_and_go
from netcarlo.networks import classes
from netcarlo.networks.flows import by_place
from netcarlo.networks.shared.description import SharedSpec
from netcarlo.networks.shared.outcomes import LOST, SETTLED, by_flow, tables
from netcarlo.numerics.arrays import Ints


def table(integers: Ints, rows: SharedRows) -> Ints:
    """Return what kernels count of classes [n, classes, DelayOut.COLUMNS]."""
    at = SharedOut.COLUMNS + rows.flows.shape[1] * FlowOut.COLUMNS + rows.links.shape[1] * LinkOut.COLUMNS
    at += that_come_and_go(rows) * ClassOut.COLUMNS
    end = at + gauges(rows) * DelayOut.COLUMNS
    return integers[:, at:end].reshape(len(integers), gauges(rows), DelayOut.COLUMNS)


def named(shared: SharedSpec, integers: Ints, rows: SharedRows) -> dict[str, Any]:
    """Return the outcomes of the classes by name, [n] each; none where nothing is measured."""
    if gauges(rows) == 0:
        return {}
    flows, out = rows.flows, tables(integers, rows).flows
    names = by_place(shared.described(), flows[:, :, Flow.GAUGE], flows[:, :, Flow.KIND], gauges(rows))
    lost, goodput = out[:, :, LOST].sum(axis=2), by_flow(integers, rows)["goodput_bps"]
    return classes.named(names, table(integers, rows), classes.Counted(
        number=flows[:, :, Flow.GAUGE], bounded=flows[:, :, Flow.BOUND] < FOREVER,
        lost=lost, settled=out[:, :, SETTLED].sum(axis=2),
        never=np.where(flows[:, :, Flow.KIND] == UDP, lost, 0),
        goodput=np.where(flows[:, :, Flow.CLASS] == 0, goodput, np.nan),
    ))  # fmt: skip
