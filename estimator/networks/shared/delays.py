"""Classes of flows of shared networks: which there are, and what came of each."""

from typing import Any

import numpy as np

from netcarlo.errors import InputError
from netcarlo.kernels.base.delays import MOST_CLASSES, DelayOut
from netcarlo.kernels.base.layout import FOREVER
from netcarlo.kernels.shared.classes import ClassOut
from netcarlo.kernels.shared.layout import (
    KINDS,
    LINUX_KINDS,
    UDP,
    Flow,
    FlowOut,
    LinkOut,
    SharedOut,
    SharedRows,
    classes,
    gauges,
)
from netcarlo.networks import classes as outcomes_of
from netcarlo.networks.classes import class_of
from netcarlo.networks.shared.description import FlowSpec, SharedSpec
from netcarlo.networks.shared.outcomes import by_flow, tables
from netcarlo.numerics.arrays import Ints, divisors
from netcarlo.transport.classed import asked_by
from netcarlo.transport.kinds import kind, tcp_of
from netcarlo.transport.udp import Udp

OTHER = "tcp"
"""The class of flows that name none and whose transport no other flow of the network may have."""


WORDS = (*KINDS, OTHER, *LINUX_KINDS)
"""The classes of flows that name none, by `Flow.KIND`."""


def asked(shared: SharedSpec) -> str:
    """The first field that asks for delays; empty if none does, and nothing is measured."""
    for name, flow in shared.each_flow():
        if field := asked_by(flow):
            return f"shared.{name}.{field}"
    return ""


def _given(shared: SharedSpec) -> list[str]:
    """The classes that flows name, each once."""
    return list(dict.fromkeys(word for _, flow in shared.each_flow() if (word := class_of(flow))))


def word_of(flow: FlowSpec, transport: Any) -> str:
    """The class of a flow."""
    if (word := class_of(flow)) is not None:
        return word
    if flow.udp is not None or isinstance(transport, Udp):
        return WORDS[UDP]
    return word if (word := kind(tcp_of(transport, flow))) in WORDS else OTHER


def words(shared: SharedSpec, transport: Any) -> list[str]:
    """The classes by number less 1, those first that flows name; none where nothing is measured.

    Raises InputError if there are too many.
    """
    if not asked(shared):
        return []
    others = [word_of(flow, transport) for _, flow in shared.each_flow()]
    found = list(dict.fromkeys([*_given(shared), *others]))
    if len(found) > MOST_CLASSES:
        there = f"{len(found)} classes ({', '.join(found)})"
        remedy = f"allowed is 1 to {MOST_CLASSES}; give some the same class"
        raise InputError(f"shared.flows are of {there}; {remedy}")
    return found


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
    number, given = rows.flows[:, :, Flow.GAUGE], _given(shared)
    names = dict(enumerate(given))
    for place in range(len(given), gauges(rows)):
        if (mine := number == place + 1).any():
            names[place] = WORDS[int(rows.flows[:, :, Flow.KIND][mine][0])]
    mine = number[:, None, :] == np.arange(1, gauges(rows) + 1)[:, None]  # [n, classes, F]
    bounded = (mine & (rows.flows[:, None, :, Flow.BOUND] < FOREVER)).any(axis=(0, 2))
    lost = flows[:, :, FlowOut.DROPS_QUEUE] + flows[:, :, FlowOut.DROPS_RANDOM]
    settled = flows[:, :, FlowOut.SENT] - flows[:, :, FlowOut.IN_FLIGHT]
    loss = (mine * lost[:, None]).sum(axis=2) / divisors((mine * settled[:, None]).sum(axis=2))
    lasting = mine & (rows.flows[:, None, :, Flow.CLASS] == 0)
    return outcomes_of.named(
        names, table(integers, rows), bounded=np.flatnonzero(bounded).tolist(), loss=loss,
        goodput=np.where(lasting, goodput[:, None], np.nan),
    )  # fmt: skip
