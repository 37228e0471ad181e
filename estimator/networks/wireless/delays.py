"""Delays and losses of the flows of 802.11 networks, for the outcomes of their classes."""

from typing import Any

from netcarlo.kernels.base.delays import DelayOut
from netcarlo.kernels.base.layout import FOREVER
from netcarlo.kernels.wireless.layout import Flow, FlowOut, NodeOut, WifiOut, WifiRows, gauges
from netcarlo.networks import classes
from netcarlo.networks.flows import by_place
from netcarlo.networks.wireless.description import Wireless
from netcarlo.networks.wireless.outcomes import by_flow, tables
from netcarlo.numerics.arrays import Ints

LOST = [FlowOut.DROPS_SOURCE, FlowOut.DROPS_RELAY, FlowOut.DROPS_LEG, FlowOut.RETRY_LOST]
"""All columns that count lost packets of a flow."""


def table(integers: Ints, rows: WifiRows) -> Ints:
    """Return what kernels count of classes [n, classes, DelayOut.COLUMNS]."""
    at = WifiOut.COLUMNS + rows.most_flows * FlowOut.COLUMNS + rows.nodes.shape[1] * NodeOut.COLUMNS
    return integers[:, at:].reshape(len(integers), gauges(rows), DelayOut.COLUMNS)


def named(wireless: Wireless, integers: Ints, rows: WifiRows) -> dict[str, Any]:
    """Return the outcomes of the classes by name, [n] each; none where nothing is measured."""
    count, f_max = gauges(rows), rows.most_flows
    if count == 0:
        return {}
    out = tables(integers, flows=f_max, classes=count).flows
    flows = rows.network[:, : f_max * len(Flow)].reshape(len(integers), f_max, len(Flow))  # FLOWS_AT is 0
    names = by_place(wireless.described(), flows[:, :, Flow.GAUGE], flows[:, :, Flow.KIND], count)
    lost = out[:, :, LOST].sum(axis=2)
    return classes.named(names, table(integers, rows), classes.Counted(
        number=flows[:, :, Flow.GAUGE], bounded=flows[:, :, Flow.BOUND] < FOREVER,
        lost=lost, settled=lost + out[:, :, FlowOut.RECEIVED], never=out[:, :, FlowOut.LOST],
        goodput=by_flow(integers, rows)["goodput_bps"],
    ))  # fmt: skip
