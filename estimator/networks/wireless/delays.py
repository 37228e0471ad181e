"""Classes of flows of 802.11 networks: what came of each."""

from typing import Any

import numpy as np

from netcarlo.kernels.base.delays import DelayOut
from netcarlo.kernels.base.layout import FOREVER
from netcarlo.kernels.wireless.layout import Flow, FlowOut, NodeOut, WifiOut, WifiRows, gauges
from netcarlo.networks import class_names
from netcarlo.networks import classes as outcomes_of
from netcarlo.networks.wireless.description import Wireless
from netcarlo.networks.wireless.outcomes import by_flow, tables
from netcarlo.numerics.arrays import Ints, divisors

LOST = [FlowOut.DROPS_SOURCE, FlowOut.DROPS_RELAY, FlowOut.DROPS_LEG, FlowOut.RETRY_LOST]
"""All ways to be lost."""


def table(integers: Ints, rows: WifiRows) -> Ints:
    """What came of the classes [n, classes, DelayOut.COLUMNS]: sums of two are those of both together."""
    at = WifiOut.COLUMNS + rows.most_flows * FlowOut.COLUMNS + rows.nodes.shape[1] * NodeOut.COLUMNS
    return integers[:, at:].reshape(len(integers), gauges(rows), DelayOut.COLUMNS)


def named(wireless: Wireless, integers: Ints, rows: WifiRows) -> dict[str, Any]:
    """The outcomes of the classes by name, [n] each; none where nothing is measured."""
    count, f_max = gauges(rows), rows.most_flows
    if count == 0:
        return {}
    counted = tables(integers, flows=f_max, classes=count).flows
    goodput = by_flow(integers, rows)["goodput_bps"]
    flows = rows.network[:, : f_max * len(Flow)].reshape(len(integers), f_max, len(Flow))  # FLOWS_AT is 0
    number = flows[:, :, Flow.GAUGE]
    names = class_names.by_place(wireless.each_flow(), number, flows[:, :, Flow.KIND], count)
    mine = number[:, None, :] == np.arange(1, count + 1)[:, None]  # [n, classes, F]
    bounded = (mine & (flows[:, None, :, Flow.BOUND] < FOREVER)).any(axis=(0, 2))
    lost = counted[:, :, LOST].sum(axis=2)
    settled = lost + counted[:, :, FlowOut.RECEIVED]
    loss = (mine * lost[:, None]).sum(axis=2) / divisors((mine * settled[:, None]).sum(axis=2))
    never = (mine * counted[:, None, :, FlowOut.LOST]).sum(axis=2)
    return outcomes_of.named(
        names, table(integers, rows), bounded=np.flatnonzero(bounded).tolist(), loss=loss,
        never=never, goodput=np.where(mine, goodput[:, None], np.nan),
    )  # fmt: skip
