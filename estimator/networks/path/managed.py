"""Paths with active queue management, simulated by the engine of shared links as a network with one flow.

The engine of paths computes when a packet leaves a queue as soon as it arrives. CoDel decides this by packets
that arrive later, which requires an event-driven engine. Link 2 k is hop k, link 2 k + 1 its reverse
direction; hosts are at the ends of the path, without access cables.
"""

from typing import Any, ClassVar

import numpy as np
import pandas as pd

from netcarlo.errors import InputError
from netcarlo.kernels.base.address import Address
from netcarlo.kernels.base.delays import DelayOut
from netcarlo.kernels.base.layout import Hop, Rows
from netcarlo.kernels.base.loss import thresholds
from netcarlo.kernels.base.parameters import P, RowP
from netcarlo.kernels.senders import UDP
from netcarlo.kernels.shared.layout import (
    PERIOD,
    TABLE,
    Flow,
    FlowOut,
    Link,
    LinkOut,
    Shared,
    SharedRows,
    with_routes,
)
from netcarlo.networks import aqm, classes, link_events
from netcarlo.networks.family import Fidelity, Named
from netcarlo.networks.offered import Offered, of_links
from netcarlo.networks.output import Output
from netcarlo.networks.path import managed_outcomes, rows, workload
from netcarlo.networks.path.description import HopSpec, Route, every_hop, most_hops
from netcarlo.networks.path.managed_outcomes import ManagedOutput
from netcarlo.networks.path.phrase import count_of
from netcarlo.networks.path.routed import Routed
from netcarlo.networks.path.varying import most_pairs, reorders, unlike_fluid, varying_field
from netcarlo.networks.ring_sizes import flow_rings, link_rings
from netcarlo.networks.run import Run, row_parameters
from netcarlo.numerics.arrays import Floats, Ints
from netcarlo.schema.draws import Draws
from netcarlo.schema.quantity import bounds
from netcarlo.transport.kinds import FLUID_TCPS, number

UNKNOWN = "bursts", "ack_bursts", "outages", "cross_traffic", "tick"
"""Fields of hops that the engine of shared links does not support."""

_BACK = int(Hop.R_BYTE_TIME)  # offset from a column of a hop to that of its reverse direction


def manager(hops: list[HopSpec]) -> str:
    """Return the first field of these hops that configures queue management; empty if there is none."""
    every = (record for hop in hops for record in (hop, hop.reverse))
    return next((record.aqm or "red" for record in every if record.decides), "")


class ManagedPath(Routed):
    """A path with active queue management at one hop or more."""

    outcomes: ClassVar = managed_outcomes.OUTCOMES

    def check_run(self, run: Run, fidelity: Fidelity) -> None:
        """Check for one path to a fixed host, with few hops and only features of the engine of shared
        links."""
        hops = list(every_hop(self.routes))
        name = manager(hops)
        workload.check_time_passes(self.routes, run.transport)
        if (count := len(self.routes)) > 1:
            raise InputError(
                f"{name} needs one path, but there are {count_of(count)}; "
                f"remove {count_of(count - 1)}, or remove {name}"
            )
        if self.mobility is not None:
            raise InputError(f"{name} and mobility are both given; remove one")
        for hop in hops:
            if field := next((field for field in UNKNOWN if getattr(hop, field)), ""):
                remedy = f"remove it, or remove {name}"
                raise InputError(f"{name} needs a path whose hops have no {field}; {remedy}")
        _check_varying(hops, name)
        workload.check_traces(self.routes, bounds(run.duration)[1])
        if self.routes[0].ecn and not run.transport.marked:
            protocol = run.transport.protocol
            raise InputError(
                f"paths.0.ecn is not supported with {protocol}; remove it, or write protocol: newreno"
            )
        if reason := run.transport.refuses(run.transport.payload):
            raise InputError(f"transport.payload {reason}")

    # Models.

    def address(self, run: Run, *, fluid: bool) -> Address:
        """Return the address of the model of shared links whose flows all use this transport, or of the
        fluid."""
        transport = run.transport
        managed = any(record.aqm for hop in every_hop(self.routes) for record in (hop, hop.reverse))
        if fluid:
            return Address("shared", "mixed", fluid=True, aqm=managed, delays=bool(self.word))
        varies = any(map(varying_field, every_hop(self.routes)))
        links: dict[str, Any] = {"aqm": managed, "delays": bool(self.word), "varying": varies}
        if transport.datagrams:
            return Address("shared", "tahoe", **links)  # without TCP the sender does not matter
        return Address("shared", transport.protocol, transport.control, **links)

    def unknown(self, run: Run, fidelity: Fidelity) -> str:
        """Return the feature that the fluid model lacks; there are no formulae of queue management."""
        known = ("red", *aqm.FLUID) if fidelity == "fluid" else ()
        if unknown := sorted({*self._managers} - {*known}):
            supported = ", ".join(["drop-tail queues", *known])
            return f"the {fidelity} model does not support {unknown[0]} on a path; it supports {supported}"
        for field in filter(None, map(unlike_fluid, every_hop(self.routes))):
            return f"the {fidelity} model does not support {field} of a hop"
        if run.transport.datagrams:
            return ""
        if run.transport.protocol == "vegas":
            return "with queue management on a path, the fluid of vegas is 12 % above packets in the mean"
        return run.transport.unknown_to_fluid((*FLUID_TCPS, "linux"), "the fluid model of a managed path")

    @property
    def _managers(self) -> list[str]:
        """Names of the AQM algorithms of the hops, each once."""
        every = (record for hop in every_hop(self.routes) for record in (hop, hop.reverse))
        return list(dict.fromkeys(record.aqm or "red" for record in every if record.decides))

    def population(self, run: Run) -> tuple[str, str]:
        """Return network and protocol in the data of measured bias: paths and their AQM, where FQ-CoDel of
        one flow is CoDel."""
        names = dict.fromkeys("codel" if name == "fq_codel" else name for name in self._managers)
        return " ".join(["paths", *names]), run.transport.kind

    def formula(self, run: Run, rows: Any) -> Named:
        """Raise InputError, because there is no formula; see `unknown`."""
        raise InputError(self.unknown(run, "formula"))

    # Rows.

    def rows(self, run: Run, draws: Draws) -> SharedRows:
        """Return rows with one flow, and two links for each hop."""
        return build(self.routes[0], run, draws)

    def offered(self, rows: SharedRows) -> Offered:
        """Return the load of a stream on the hops."""
        return of_links(rows, [f"hops.{k // 2}" for k in range(rows.links.shape[1])])

    def row_bytes(self) -> int:
        """Return the memory of one row and its outcomes [byte]."""
        links = 2 * sum(map(most_hops, self.routes[0].hops))
        columns = Shared.COLUMNS + Flow.COLUMNS + links + FlowOut.COLUMNS
        columns += DelayOut.COLUMNS if self.word else 0
        longest = max(map(most_pairs, every_hop(self.routes)))
        return 8 * (columns + links * (Link.COLUMNS + LinkOut.COLUMNS + 2 * longest))

    # One replication.

    def events(self, run: Run, rows: SharedRows, events: Floats) -> pd.DataFrame:
        """Return the packets at hops and hosts, with the sender's state."""
        hops = [f"hop {k // 2}" + ", back" * (k % 2) for k in range(rows.links.shape[1])]
        return link_events.packets(events, link_events.protocols(rows, run.transport), hops)

    def per_second(self, rows: SharedRows, frame: pd.DataFrame) -> pd.DataFrame | None:
        """Return the new payload at the receiver in each second."""
        return link_events.per_second(rows, frame)

    # Outcomes.

    def output(self, rows: SharedRows, integers: Ints | None = None) -> Output:
        """Return the output of the flow, in the columns of a path, and of the links."""
        return ManagedOutput(rows, integers)

    def named(self, integers: Ints, rows: SharedRows) -> Named:
        """Return the outcomes of a path, queue statistics, and outcomes of the flow's class."""
        values = super().named(integers, rows)
        if self.word:
            out = self.output(rows, integers)
            lost = out[FlowOut.DROPS_QUEUE, FlowOut.DROPS_RANDOM]
            values |= classes.named_of_one(
                self.word, integers[:, -DelayOut.COLUMNS :], rows.flows[:, 0],
                lost=lost, settled=out[FlowOut.SENT] - out[FlowOut.IN_FLIGHT],
                missing=lost, goodput=values["goodput_bps"],
            )  # fmt: skip
        return values

    def sent(self, integers: Ints, rows: SharedRows) -> int:
        """Return the number of data packets that the flow sent."""
        return int(self.output(rows, integers)[FlowOut.SENT].sum())


def build(route: Route, run: Run, draws: Draws) -> SharedRows:
    """Build rows [n] of a transport over this path; hops and parameters are those of any path."""
    path = rows.build([route], None, run, draws)
    hops = path.hops[:, 0]
    n, most = hops.shape[:2]
    count = hops[:, :, Hop.PRESENT].sum(axis=1)
    losses = np.concatenate([path.losses, thresholds(np.array([PERIOD]))])
    links = _links(hops)
    _manage(links, route, draws)
    flows = np.zeros((n, 1, Flow.COLUMNS), np.int64)
    flow = flows[:, 0]
    flow[:, : len(P)] = path.parameters
    flow[:, RowP.RING] = 0
    flow[:, Flow.KIND] = number(run.transport)
    flow[:, Flow.DELAY_CLASS] = path.parameters[:, RowP.LATE] > 0
    flow[:, Flow.BOUND] = path.parameters[:, RowP.LATE]
    flow[:, Flow.ECN] = int(bool(route.ecn))
    flow[:, Flow.PERIODS] = len(path.losses)
    flow[:, Flow.HOPS] = count
    flow[:, Flow.BACK_HOPS] = np.where(flow[:, Flow.KIND] != UDP, count, 0)
    place = np.tile(np.arange(most), (n, 1, 1))
    flows = with_routes(flows, 2 * place, 2 * (count[:, None, None] - place) - 1)
    links[np.arange(2 * most) >= 2 * count[:, None]] = 0
    links[:, :, Link.ROOM] = link_rings(flows, links)
    links = _with_pairs(links, path)
    table = np.zeros((n, Shared.COLUMNS), np.int64)
    table[:, : len(P)] = row_parameters(run, draws)
    table[:, Shared.FLOWS], table[:, Shared.LINKS] = 1, 2 * count
    table[:, Shared.DELAY_CLASSES] = flow[:, Flow.DELAY_CLASS]
    found = SharedRows(table, path.constants, flows, links, losses)
    if run.transport.own_association:
        flows[:, :, RowP.RING] = flow_rings(found)
    return found


def _links(hops: Ints) -> Ints:
    """Return links [n, 2 H, Link.COLUMNS] without queue management, from hops [n, H, len(Hop)]."""
    n, most = hops.shape[:2]
    links = np.zeros((n, 2 * most, Link.COLUMNS), np.int64)
    for back in range(2):
        for column in (Hop.BYTE_TIME, Hop.DELAY, Hop.QUEUE, Hop.LOSS):
            links[:, back::2, Link[column.name]] = hops[:, :, column + _BACK * back]
    links[links[:, :, Link.BYTE_TIME] == 0, Link.QUEUE] = 0  # an unlimited rate has no queue
    return links


def _check_varying(hops: list[HopSpec], name: str) -> None:
    """Raise InputError for jitter that reorders packets, and for PIE on a hop whose rate changes."""
    for hop in hops:
        if reorders(hop):
            raise InputError(f"{name} needs a path whose jitter keeps the order; remove reorder, or {name}")
        rates = any(of.trace is not None and of.trace.mean("rate") is not None for of in (hop, hop.reverse))
        if hop.pie is not None or hop.reverse.pie is not None:
            remedy = "write codel or fq_codel, or remove one of them"
            if rates:
                raise InputError(f"pie needs a rate that stays, and the trace has rates; {remedy}")
            if hop.shaper is not None:
                raise InputError(f"pie needs a rate that stays, and a shaper has bursts; {remedy}")


def _with_pairs(links: Ints, path: Rows) -> Ints:
    """Return the links [n, 2 H, Link.COLUMNS] followed by the pairs of each, if hops vary in time."""
    hops, tables = path.hops[:, 0], path.outages[:, 0]
    first = hops[:, :, [Hop.VARIES, Hop.R_VARIES]]  # [n, H, 2]
    if not first.any():
        return links
    longest = tables.shape[2] - int(first[first > 0].min())
    links = np.pad(links, [(0, 0), (0, 0), (0, 2 * longest)])
    for k in range(hops.shape[1]):
        for back in range(2):
            who = np.flatnonzero(first[:, k, back])
            at = np.minimum(first[who, k, back, None] + np.arange(longest), tables.shape[2] - 1)
            links[who, 2 * k + back, Link.VARIES] = TABLE
            pairs = tables[who[:, None], k, at]
            links[who, 2 * k + back, Link.COLUMNS :] = pairs.reshape(len(who), 2 * longest)
    return links


def _manage(links: Ints, route: Route, draws: Draws) -> None:
    """Fill in the queue management of links [n, 2 H, Link.COLUMNS]."""
    place = np.zeros(len(links), np.int64)
    for hop, name, present in rows.each_hop(route, "paths.0", draws):
        other = hop.reverse.decides
        ways = (hop, name), (hop.reverse if other else hop, f"{name}.reverse" if other else name)
        who = np.flatnonzero(present)
        for back, (managed, at) in enumerate(ways):
            table = links[np.arange(len(links)), 2 * place + back]
            aqm.fill(table, managed, at, draws)
            links[who, 2 * place[who] + back] = table[who]
        place += present
