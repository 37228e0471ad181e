"""Classes of flows of shared networks: what came of each."""

from typing import Any

import numpy as np

from netcarlo.kernels.base.delays import DelayOut
from netcarlo.kernels.base.layout import FOREVER
from netcarlo.kernels.senders import UDP
from netcarlo.kernels.shared.classes import ClassOut
from netcarlo.kernels.shared.layout import Flow, FlowOut, LinkOut, SharedOut, SharedRows, classes, gauges
from netcarlo.networks import class_names
from netcarlo.networks import classes as outcomes_of
from netcarlo.networks.shared.description import SharedSpec
from netcarlo.networks.shared.outcomes import LOST, SETTLED, by_flow, tables
from netcarlo.numerics.arrays import Ints, divisors


def table(integers: Ints, rows: SharedRows) -> Ints:
    """What came of the classes [n, classes, DelayOut.COLUMNS]: sums of two are those of both together."""
    at = SharedOut.COLUMNS + rows.flows.shape[1] * FlowOut.COLUMNS + rows.links.shape[1] * LinkOut.COLUMNS
    at += classes(rows) * ClassOut.COLUMNS
    end = at + gauges(rows) * DelayOut.COLUMNS
    return integers[:, at:end].reshape(len(integers), gauges(rows), DelayOut.COLUMNS)


def named(shared: SharedSpec, integers: Ints, rows: SharedRows) -> dict[str, Any]:
    """The outcomes of the classes by name, [n] each; none where nothing is measured."""
    if gauges(rows) == 0:
        return {}
    flows, goodput = tables(integers, rows).flows, np.asarray(by_flow(integers, rows)["goodput_bps"])
    number = rows.flows[:, :, Flow.GAUGE]
    names = class_names.by_place(shared.each_flow(), number, rows.flows[:, :, Flow.KIND], gauges(rows))
    mine = number[:, None, :] == np.arange(1, gauges(rows) + 1)[:, None]  # [n, classes, F]
    bounded = (mine & (rows.flows[:, None, :, Flow.BOUND] < FOREVER)).any(axis=(0, 2))
    lost, settled = flows[:, :, LOST].sum(axis=2), flows[:, :, SETTLED].sum(axis=2)
    loss = (mine * lost[:, None]).sum(axis=2) / divisors((mine * settled[:, None]).sum(axis=2))
    udp = rows.flows[:, :, Flow.KIND] == UDP
    never = (mine * np.where(udp, lost, 0)[:, None]).sum(axis=2)
    lasting = mine & (rows.flows[:, None, :, Flow.CLASS] == 0)
    return outcomes_of.named(
        names, table(integers, rows), bounded=np.flatnonzero(bounded).tolist(), loss=loss,
        never=never, goodput=np.where(lasting, goodput[:, None], np.nan),
    )  # fmt: skip
