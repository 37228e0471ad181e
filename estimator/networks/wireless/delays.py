"""Delays and losses of flows of 802.11 networks, for the outcomes of their classes."""

from typing import Any

import numpy as np

from netcarlo.kernels.base.layout import FOREVER
from netcarlo.kernels.base.rows import split
from netcarlo.kernels.wireless.layout import Flow, FlowOut, WifiRows, delay_classes
from netcarlo.networks import classes
from netcarlo.networks.flows import by_place
from netcarlo.networks.wireless.description import Wireless
from netcarlo.networks.wireless.output import WifiOutput
from netcarlo.numerics.arrays import Ints

LOST = [FlowOut.DROPS_SOURCE, FlowOut.DROPS_RELAY, FlowOut.DROPS_LEG, FlowOut.RETRY_LOST]
"""Columns that count lost packets of a flow."""


def table(integers: Ints, rows: WifiRows) -> Ints:
    """Return the kernel's counts for classes [n, classes, DelayOut.COLUMNS]."""
    return split(integers, rows)["classes"]


def of_rows(wireless: Wireless, rows: WifiRows) -> dict[int, classes.Class]:
    """Return the classes of flows whose delays are measured, by index in `table`."""
    flows = WifiOutput(rows).flows
    number, kinds = flows[:, :, Flow.DELAY_CLASS], flows[:, :, Flow.KIND]
    names = by_place(wireless.described(), number, kinds, delay_classes(rows))
    lasting = flows[:, :, Flow.CLASS] == 0
    return classes.of_flows(names, number, flows[:, :, Flow.BOUND] < FOREVER, lasting)


def named(wireless: Wireless, integers: Ints, rows: WifiRows) -> dict[str, Any]:
    """Return the outcomes of the classes by name, [n] each; empty if nothing is measured."""
    if delay_classes(rows) == 0:
        return {}
    output = WifiOutput(rows, integers)
    flows, out = output.flows, output.table(FlowOut)
    names = by_place(
        wireless.described(), flows[:, :, Flow.DELAY_CLASS], flows[:, :, Flow.KIND], delay_classes(rows)
    )
    lost = out[:, :, LOST].sum(axis=2)
    return classes.named(names, table(integers, rows), classes.Counted(
        number=flows[:, :, Flow.DELAY_CLASS], bounded=flows[:, :, Flow.BOUND] < FOREVER,
        lost=lost, settled=lost + out[:, :, FlowOut.RECEIVED], never=out[:, :, FlowOut.LOST],
        goodput=np.where(output.there & ~output.slots, output.goodput, np.nan),
    ))  # fmt: skip
