"""Delays and losses of flows over shared links, for the outcomes of their classes."""

from typing import Any

import numpy as np

from netcarlo.kernels.base.classes import ClassOut
from netcarlo.kernels.base.delays import DelayOut
from netcarlo.kernels.base.layout import FOREVER
from netcarlo.kernels.senders import UDP
from netcarlo.kernels.shared.layout import Flow, FlowOut, LinkOut, SharedOut, SharedRows, delay_classes
from netcarlo.kernels.shared.layout import classes as that_come_and_go
from netcarlo.networks import classes
from netcarlo.networks.flows import by_place
from netcarlo.networks.shared.description import SharedSpec
from netcarlo.networks.shared.outcomes import LOST, SETTLED
from netcarlo.networks.shared.output import SharedOutput
from netcarlo.numerics.arrays import Ints


def table(integers: Ints, rows: SharedRows) -> Ints:
    """Return the kernel's counts for classes [n, classes, DelayOut.COLUMNS]."""
    at = SharedOut.COLUMNS + rows.flows.shape[1] * FlowOut.COLUMNS + rows.links.shape[1] * LinkOut.COLUMNS
    at += that_come_and_go(rows) * ClassOut.COLUMNS
    end = at + delay_classes(rows) * DelayOut.COLUMNS
    return integers[:, at:end].reshape(len(integers), delay_classes(rows), DelayOut.COLUMNS)


def of_rows(shared: SharedSpec, rows: SharedRows) -> dict[int, classes.Class]:
    """Return the classes of flows whose delays are measured, by index in `table`."""
    number, kinds = rows.flows[:, :, Flow.DELAY_CLASS], rows.flows[:, :, Flow.KIND]
    names = by_place(shared.described(), number, kinds, delay_classes(rows))
    bounded, lasting = rows.flows[:, :, Flow.BOUND] < FOREVER, rows.flows[:, :, Flow.CLASS] == 0
    return classes.of_flows(names, number, bounded, lasting)


def named(shared: SharedSpec, integers: Ints, rows: SharedRows) -> dict[str, Any]:
    """Return the outcomes of the classes by name, [n] each; empty if nothing is measured."""
    if delay_classes(rows) == 0:
        return {}
    flows, output = rows.flows, SharedOutput(rows, integers)
    out = output.table(FlowOut)
    names = by_place(
        shared.described(), flows[:, :, Flow.DELAY_CLASS], flows[:, :, Flow.KIND], delay_classes(rows)
    )
    lost = out[:, :, LOST].sum(axis=2)
    return classes.named(names, table(integers, rows), classes.Counted(
        number=flows[:, :, Flow.DELAY_CLASS], bounded=flows[:, :, Flow.BOUND] < FOREVER,
        lost=lost, settled=out[:, :, SETTLED].sum(axis=2),
        never=np.where(flows[:, :, Flow.KIND] == UDP, lost, 0),
        goodput=np.where(flows[:, :, Flow.CLASS] == 0, output.goodput_bps, np.nan),
    ))  # fmt: skip
