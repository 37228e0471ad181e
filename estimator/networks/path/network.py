"""Network interface of paths: one to four paths of hops to a fixed or a mobile host."""

from collections.abc import Sequence
from typing import Any

from netcarlo.errors import InputError
from netcarlo.kernels.base.address import Address
from netcarlo.kernels.base.delays import DelayOut
from netcarlo.kernels.base.layout import ENDLESS, PATHS, Hop, Out, Rows
from netcarlo.kernels.base.parameters import RowP, UdpP
from netcarlo.kernels.base.rows import split
from netcarlo.kernels.senders import LINUX_FLUID_ALONE, NUMBERS, PROBING
from netcarlo.networks import classes
from netcarlo.networks.events import table
from netcarlo.networks.family import Fidelity, Named
from netcarlo.networks.interruption import Interruption
from netcarlo.networks.offered import Offered, of_paths
from netcarlo.networks.output import Output
from netcarlo.networks.path import datagrams, finite, formula, interruptions, rows, workload
from netcarlo.networks.path.description import Hops, HopSpec, every_hop
from netcarlo.networks.path.managed import ManagedPath, manager
from netcarlo.networks.path.output import ENDS, PathOutput
from netcarlo.networks.path.phrase import count_of
from netcarlo.networks.path.routed import Routed
from netcarlo.networks.path.varying import reorders, unlike_fluid, varying_field
from netcarlo.networks.rare import Rare, RareOutages
from netcarlo.networks.run import Run
from netcarlo.networks.sources import Source
from netcarlo.numerics.arrays import Floats, Ints
from netcarlo.schema.draws import Draws
from netcarlo.schema.quantity import bounds
from netcarlo.transport.classed import delay_field
from netcarlo.transport.kinds import FLUID_TCPS
from netcarlo.transport.linux import OF_HOSTS


class PathNetwork(Routed):
    """The `paths` of a scenario and its `mobility`; `duration` limits the number of outages."""

    of_hosts = OF_HOSTS

    @classmethod
    def of(cls, run: Any) -> Routed | None:
        """Return the paths of a scenario; None if it has none."""
        if not run.paths:
            return None
        kind = ManagedPath if manager(list(every_hop(run.paths))) else cls
        messages = run.transport.given("messages") is not None
        return kind.model_construct(
            routes=run.paths, mobility=run.mobility, duration=run.duration, messages=messages
        ).with_flow(run.transport)

    def check_run(self, run: Run, fidelity: Fidelity) -> None:
        """Check that several paths are used with a transport for them, and that a mobile host has one path
        with a suitable last hop."""
        if (count := len(self.routes)) > PATHS and not run.transport.subflows:
            raise InputError(
                f"there are {count_of(count)} paths, but only mptcp uses more than two; "
                f"remove {count_of(count - PATHS)}, or write protocol: mptcp"
            )
        if len(self.routes) > 1 and not run.transport.two_paths:
            raise InputError(
                "there are two paths, but only sctp, mptcp and quic use two; remove one or write protocol: "
                "sctp"
            )
        migrates = len(self.routes) > 1 and run.transport.migrates
        if run.transport.subflows or migrates:
            self._check_constant(f"{run.transport.protocol}{' over two paths' if migrates else ''}")
        if migrates and (field := delay_field(run.transport)):
            remedy = "remove it, or write protocol: sctp"
            raise InputError(f"transport.{field} is not supported with quic over two paths; {remedy}")
        if not run.transport.subflows and any(route.backup for route in self.routes):
            raise InputError("backup of a path needs protocol: mptcp; write it, or remove backup")
        if len(self.routes) > 1 and any(map(reorders, every_hop(self.routes))):
            raise InputError("jitter with reorder needs one path, but there are two; remove one, or reorder")
        if any(map(reorders, every_hop(self.routes))):
            for name in OF_HOSTS:
                if run.transport.given(name):
                    raise InputError(f"jitter with reorder and transport.{name} are both given; remove one")
        if any(route.ecn for route in self.routes):
            raise InputError(
                "ecn needs a queue that marks; write codel: {mark: true} in a hop, or remove ecn"
            )
        workload.check_time_passes(self.routes, run.transport)
        workload.check_outages(self.routes, bounds(run.duration)[1])
        workload.check_traces(self.routes, bounds(run.duration)[1])
        if self.mobility is None:
            return
        if run.transport.given("autotuning"):
            raise InputError("mobility and transport.autotuning are both given; remove one")
        if len(self.routes) > 1:
            raise InputError("mobility needs one path, but there are two; remove one, or remove mobility")
        hops = self.routes[0].hops
        if len(hops) < 2 or not isinstance(hops[-1], HopSpec):
            remedy = "add a hop that is not part of a count"
            raise InputError(
                f"mobility needs two hops or more, of which the last is the radio link; {remedy}"
            )
        if hops[-1].outages:
            remedy = "remove them, and describe handovers in mobility"
            raise InputError(f"mobility needs a last hop without outages; {remedy}")
        if hops[-1].tick is not None:
            raise InputError("mobility needs a last hop without a tick; move the tick to an earlier hop")
        for field in filter(None, map(varying_field, every_hop(self.routes))):
            raise InputError(f"mobility needs hops without {field}; remove it, or remove mobility")
        self.mobility.most_handovers(bounds(run.duration)[1])

    def _check_constant(self, transport: str) -> None:
        """Check that a transport has fixed hosts and constant hops."""
        if self.mobility is not None:
            raise InputError(
                f"mobility is not supported with {transport}; remove it, or write protocol: linux"
            )
        for field in filter(None, map(varying_field, every_hop(self.routes))):
            remedy = "remove it, or write protocol: sctp"
            raise InputError(f"{field} of a hop is not supported with {transport}; {remedy}")

    # Models.

    def address(self, run: Run, *, fluid: bool) -> Address:
        """Return the address of the model of this transport, with a fixed or a mobile host."""
        transport = run.transport
        mobile = self.mobility is not None
        reordering = not fluid and any(map(reorders, every_hop(self.routes)))
        varies = not (fluid or reordering) and any(map(varying_field, every_hop(self.routes)))
        return Address(
            "path", transport.protocol, transport.control, mobile=mobile, fluid=fluid, varying=varies,
            messages=self.messages, autotuning=bool(transport.given("autotuning")), reordering=reordering,
            delays=bool(self.word), migration=not fluid and transport.migrates and len(self.routes) > 1,
        )  # fmt: skip

    def unknown(self, run: Run, fidelity: Fidelity) -> str:
        """Return the feature that the fast model lacks: some transports, burst losses, time-varying hops,
        finite transfers of most transports."""
        if any(hop.bursts or hop.ack_bursts for hop in every_hop(self.routes)):
            return f"the {fidelity} model does not support burst losses"
        for field in filter(None, map(unlike_fluid, every_hop(self.routes))):
            return f"the {fidelity} model does not support {field} of a hop"
        if field := delay_field(run.transport):
            others = {
                "a mobile host": self.mobility is not None,
                str(run.transport.protocol): run.transport.two_paths or run.transport.datagrams,
                run.transport.control: run.transport.kind in LINUX_FLUID_ALONE,
                f"{run.transport.protocol}, whose packets wait in pauses": run.transport.protocol in PROBING,
            }
            of = next((name for name, there in others.items() if there), "classes")
            if fidelity == "formula" or of != "classes":
                return f"the {fidelity} model does not support delays of {of} (transport.{field})"
        if fidelity == "fluid":
            if run.transport.given("gaps") == "exponential":
                return "the fluid model does not know the losses of random bursts (gaps: exponential)"
            if run.transport.protocol == "vegas" and self.has_outages:
                return "with outages, the fluid of vegas is 14 % above packets in the median"
            if run.transport.protocol == "probing" and self.mobility is not None:
                return "to mobile hosts the fluid of probing is 21 to 36 % above packets in the mean"
            if run.transport.migrates and len(self.routes) > 1:
                return "the fluid model of quic has one path: it does not migrate"
            if any(route.backup for route in self.routes):
                return "the fluid model does not support backup of a path"
            fixed = () if self.mobility is not None else (*LINUX_FLUID_ALONE, "quic", "mptcp")
            known = (*FLUID_TCPS, *PROBING, "linux26", "linux", *fixed, "sctp", "udp")
            return run.transport.unknown_to_fluid(known, "the fluid model of a path")
        return self._unknown_to_formula(run)

    def _unknown_to_formula(self, run: Run) -> str:
        transport = run.transport
        if text := run.transport.unknown_to_formula((*FLUID_TCPS, "linux", "sctp", "udp")):
            return text
        if self.mobility is not None:
            return "the formulae do not support mobile hosts"
        if transport.bytes is not None or transport.packets is not None:
            if transport.kind not in finite.KINDS:
                finite_ones = "finite ones of linux with cubic or reno"
                return f"the formulae support only endless transfers, and {finite_ones}"
            if self.has_outages:
                return "the formulae do not support outages of finite transfers, of which few meet one"
        if transport.given("gaps") == "exponential":
            return "the formulae do not know the losses of random bursts (gaps: exponential)"
        if len(self.routes) > 1 and self.has_outages:
            return "the formulae do not support outages with two paths"
        return ""

    def formula(self, run: Run, rows: Rows) -> Named:
        """Return the outcomes by PFTK or its counterparts, limited by the bottleneck and reduced by outages;
        those of datagrams by what each hop passes on, those of finite transfers with slow start."""
        if run.transport.datagrams:
            return datagrams.formula(rows)
        kind = run.transport.kind
        if (rows.parameters[:, RowP.LIMIT] < ENDLESS).any():
            return finite.formula(rows, kind=NUMBERS[kind])
        return formula.formula(rows, kind=NUMBERS["sack" if kind == "sctp" else kind])

    # Rows.

    def rows(self, run: Run, draws: Draws) -> Rows:
        """Return rows with hops, outages and the schedule of handovers."""
        return rows.build(self.routes, self.mobility, run, draws)

    def offered(self, rows: Rows) -> Offered:
        """Return the load of a stream and of the cross traffic of the hops."""
        return of_paths(rows)

    def row_bytes(self) -> int:
        """Return the memory of one row and its outcomes [byte]."""
        found = rows.row_bytes(self.routes, self.mobility, self.duration, messages=self.messages)
        return found + (8 * DelayOut.COLUMNS if self.word else 0)

    def sources(self, run: Run, draws: Draws) -> Sequence[Source]:
        """Return the datagram flow and the cross traffic of each hop, as far as their intervals are
        constant."""
        if not run.transport.datagrams:
            return ()
        found = self.rows(run, draws)
        p, hops = found.parameters[0], found.hops[0, 0]
        if p[UdpP.SPREAD] != 0:
            return ()
        field, every, start = "transport.jitter", int(p[UdpP.INTERVAL]), int(p[RowP.START])
        end, queues = int(min(p[UdpP.STOP], p[RowP.END])), frozenset(range(len(hops)))
        of_hops = enumerate(hops[:, Hop.CROSS_EVERY].tolist())
        cross = [(f"the cross traffic of hop {k + 1}", period, k) for k, period in of_hops if period > 0]
        others = [Source(name, field, period, 0, end, frozenset([k])) for name, period, k in cross]
        return [Source("the flow", field, every, start, end, queues), *others]

    # Outcomes.

    def output(self, rows: Rows, integers: Ints | None = None) -> Output:
        """Return the output of one association."""
        return PathOutput(rows, integers)

    def named(self, integers: Ints, rows: Rows) -> Named:
        """Return the outcomes of one association and of its class."""
        values = super().named(integers, rows)
        if self.word:
            out = self.output(rows, integers)
            ends = out[ENDS]
            values |= classes.named_of_one(
                self.word, split(integers, rows)["delays"], rows.parameters,
                lost=ends - out[Out.RECEIVED, Out.DISCARDED], settled=ends,
                missing=ends - out[Out.COPIES, Out.DELIVERED],
                goodput=values["goodput_bps"],
            )  # fmt: skip
        return values

    def sent(self, integers: Ints, rows: Rows) -> int:
        """Return the number of data packets that the association sent."""
        return int(integers[:, Out.SENT].sum())

    # One replication.

    def events(self, run: Run, rows: Any, events: Floats) -> Any:
        """Return packets, acknowledgements and timeouts of an association, by path."""
        return table(events).astype(dict.fromkeys(("sequence", "path", "acked"), "int64"))

    rare_outage_remedy = "write outages: {down: 4 h a year} in a hop"

    def rare_outages(self) -> list[Rare]:
        """Return the outages of hops that are rarer than a run."""
        return [
            Rare(f"paths.{i}.hops.{k}.outages", f"hop {k}", hop.outages)
            for i, route in enumerate(self.routes)
            for k, hop in enumerate(route.hops)
            if isinstance(hop, HopSpec) and isinstance(hop.outages, RareOutages)
        ]

    @property
    def no_availability(self) -> str:
        """Reason why the availability cannot be estimated: two paths, or hops that are described together."""
        if len(self.routes) > 1:
            return (
                "runs begin with a new association, which has not yet left a path that is down; write "
                "shared links and a backup"
            )
        counted = [hop for hop in self.routes[0].hops if isinstance(hop, Hops)]
        if any(isinstance(hop.each.outages, RareOutages) for hop in counted):
            return "hops of a count fail independently of each other; write each of them as a hop"
        return ""

    def interruptions(self, rows: Rows) -> Sequence[Interruption]:
        """Return outages and handovers."""
        return interruptions.of_rows(rows)
