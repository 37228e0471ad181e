"""Network interface of shared links."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from netcarlo.errors import InputError
from netcarlo.kernels.base.address import Address
from netcarlo.kernels.shared.layout import (
    MAX_FLOWS,
    Flow,
    FlowOut,
    SharedRows,
)
from netcarlo.networks import aqm, link_events, phrases
from netcarlo.networks.classes import Class
from netcarlo.networks.extent import Compared
from netcarlo.networks.family import Fidelity, Named, Network, Speed
from netcarlo.networks.flows import check_own
from netcarlo.networks.interruption import Interruption
from netcarlo.networks.offered import Offered, of_links
from netcarlo.networks.output import Output
from netcarlo.networks.rare import Rare, RareOutages
from netcarlo.networks.run import Run, constants, row_parameters, warm_up
from netcarlo.networks.shared import (
    backups,
    delays,
    extents,
    failures,
    formula,
    outcomes,
    rows,
    used,
    varying,
    workload,
)
from netcarlo.networks.shared.description import (
    MAX_CABLES,
    Cable,
    Flows,
    Line,
    SharedSpec,
)
from netcarlo.networks.shared.failures import Failure
from netcarlo.networks.shared.ignored_fields import IGNORED_FIELDS
from netcarlo.networks.shared.output import SharedOutput
from netcarlo.networks.shared.phrase import phrase
from netcarlo.networks.sources import Source
from netcarlo.numerics.arrays import Floats, Ints
from netcarlo.schema import units
from netcarlo.schema.draws import Draws
from netcarlo.schema.limit import dimension_of
from netcarlo.schema.quantity import Number, bounds
from netcarlo.schema.readable import listed
from netcarlo.transport.kinds import FLUID_KINDS, not_mixed, own_association, sender_of


class SharedNetwork(SharedSpec, Network):
    """Links shared by many flows, see `SharedSpec`."""

    key = "shared"
    speed = Speed(1.5e7, 4e8, 3.0)
    family = "shared"
    outcomes = outcomes.OUTCOMES
    ignored_fields = IGNORED_FIELDS

    def check_run(self, run: Run, fidelity: Fidelity) -> None:
        """Check the senders, classes and number of flows, failures, and time-varying links."""
        workload.check_time_passes(self, run.transport)
        varying.check(self, bounds(run.duration)[1])
        self._check_failures(bounds(run.duration)[1])
        found = self.kinds(run.transport)
        where = "together with other TCPs" if len(found) > 1 else "with arrivals" if self.classes else ""
        if where and (text := not_mixed(found, where, own=not self.classes)):
            raise InputError(text)
        if self.classes and run.transport.datagrams:
            name = self.classes[0][0]
            raise InputError(f"{name}.arrivals need TCP; write transport.protocol: newreno")
        self._check_senders(run.transport)
        self.check_flows(run.transport)
        used.check(self, packets=fidelity == "packet")
        most = self.flow_bounds[1]
        if fidelity == "packet" and most > MAX_FLOWS:
            remedy = "lower a count, or write fidelity: fluid"
            raise InputError(f"shared.flows can be up to {most}; expected 1 to {MAX_FLOWS}; {remedy}")

    def queues(self) -> Iterator[tuple[str, Number]]:
        """Yield the limits of the links, without those of the reverse direction of cables."""
        for name, line in self.each_line():
            if isinstance(line, Line):
                yield f"shared.{name}.queue", line.queue

    def _check_failures(self, duration_s: float) -> None:
        """Check failures; they cannot be combined with time-varying links or AQM."""
        failures.check(self.failures, self.least_cables, duration_s)
        if self.failures and self.varying_fields:
            raise InputError(
                f"shared.failures and {self.varying_fields[0]} are both given; remove one of them"
            )
        if self.failures and self.aqm:
            raise InputError(f"shared.failures and {self.aqm[0]} are both given; write red, or remove one")

    def _check_senders(self, transport: Any) -> None:
        """Check that flows have only fields of their transports, and packets that fit its buffers."""
        for name, flow in self.described():
            check_own(name, flow, transport)
            sender = sender_of(transport, flow)
            for field, reason in sender.not_of_flows.items():
                if getattr(flow, field):
                    raise InputError(f"{name}.{field} {reason}")
            if reason := sender.refuses(flow.payload or sender.payload):
                raise InputError(f"{name}.payload {reason}")

    def counts_bytes(self, run: Run) -> bool:
        """Return True if limits of queues are simulated in bytes: packets on a link may differ in size.

        Limits are converted to packets in a row of links over which all data take one direction, in packets
        of one size, and with failures and in other models than that of packets.
        """
        limits = [line.queue for _, line in self.each_line() if line.queue is not None]
        if all(dimension_of(limit) is units.PACKETS for limit in limits) or self.failures:
            return False
        if getattr(run, "fidelity", "packet") != "packet":
            return False
        return self.classes != [] or not self._has_equal_packets(run.transport)

    def _has_equal_packets(self, transport: Any) -> bool:
        """Return True if each link of a row of links carries data, or acknowledgements, of one size."""
        flows = [flow for _, flow in self.each_flow()]
        senders = [sender_of(transport, flow) for flow in flows]
        sizes = {
            (flow.payload or sender.payload, sender.header)
            for flow, sender in zip(flows, senders, strict=True)
        }
        in_line = self.dumbbell is not None or self.parking_lot is not None
        forward = all(
            flow.route is None and flow.source is None and self.placement(flow) != "random" for flow in flows
        )
        return in_line and forward and len(sizes) == 1

    def phrase(self, run: Run) -> str:
        """Return the flows by kind of sender, and the layout."""
        return f"{phrases.flows(self.flows, run.transport)} over {phrase(self)}"

    # Models.

    def address(self, run: Run, *, fluid: bool) -> Address:
        """Return the address of a model for one type of TCP, for heterogeneous flows, or of a fluid for
        any flows."""
        found, arrivals = list(self.kinds(run.transport).values()), bool(self.classes)
        if fluid:
            delays = bool(self.asks_for_delays)
            return Address("shared", "mixed", fluid=True, aqm=bool(self.aqm), delays=delays)
        links: dict[str, Any] = {
            "aqm": bool(self.aqm) or self.counts_bytes(run),
            "varying": bool(self.varying_fields or self.failures),
            "delays": bool(self.asks_for_delays),
        }  # fmt: skip
        if len(found) > 1 or (arrivals and found[0].protocol != "linux"):
            linux = own_association(found)
            return Address("shared", "mixed", linux, arrivals=arrivals, **links)
        if not found:
            return Address("shared", "tahoe", **links)  # without TCP the sender does not matter
        return Address("shared", found[0].protocol, found[0].control, arrivals=arrivals, **links)

    def unknown(self, run: Run, fidelity: Fidelity) -> str:
        """Return the feature that the fast model lacks: sender types, AQM, arriving flows; for formulae
        also finite flows."""
        if self.classes:
            return f"the {fidelity} model does not support {self.classes[0][0]}.arrivals"
        known = (*FLUID_KINDS, "sctp")
        if unknown := set(self.kinds(run.transport)) - set(known):
            one = "fluid model does" if fidelity == "fluid" else "formulae do"
            return f"the {one} not support {min(unknown)}; supported: {', '.join(known)}"
        lacks = run.transport.unknown_to_fluid if fidelity == "fluid" else run.transport.unknown_to_formula
        if run.transport.protocol == "sctp" and (text := lacks(known)):
            return text
        found = {*self.kinds(run.transport)}
        if "linux_bbr" in found and len(found) > 1:
            beside = "beside other TCPs: their shares would be wrong by half"
            return f"the {fidelity} model does not support linux_bbr {beside}"
        managers = aqm.FLUID if fidelity == "fluid" else ()
        if without := [name for name in self.aqm if name not in managers]:
            supported = ", ".join(["drop-tail queues", "red", *managers])
            return f"the {fidelity} model does not support {without[0]}; it supports {supported}"
        if self.unlike_fluid:
            return f"the {fidelity} model does not support {self.unlike_fluid[0].rsplit('.', 1)[1]} of a link"
        if self.failures:
            return f"the {fidelity} model does not support failures of cables"
        if (field := self.asks_for_delays) and fidelity == "formula":
            return f"the {fidelity} model does not support delays of classes ({field})"
        flows = [run.transport, *(flow for _, flow in self.each_flow())]
        finite = any(flow.bytes is not None or flow.packets is not None for flow in flows)
        if fidelity == "formula" and finite:
            return "the formulae support only endless flows, and bytes or packets limits one"
        return ""

    def formula(self, run: Run, rows: SharedRows) -> Named:
        """Return the outcomes by max-min fair shares."""
        return formula.formula(rows)

    def population(self, run: Run) -> tuple[str, str]:
        """Return network and protocol in the data of measured bias: dumbbells or graphs and their AQM, by
        TCP."""
        network = " ".join(["dumbbells" if self.dumbbell is not None else "graphs", *self.aqm])
        found = self.kinds(run.transport)
        streams = any(flow.udp is not None for _, flow in self.each_flow())
        return network, "mixed" if streams or len(found) != 1 else next(iter(found))

    def compared(self, run: Run) -> Compared:
        """Return the extents of each protocol of the flows."""
        return extents.compared(run, self)

    # Rows.

    def rows(self, run: Run, draws: Draws) -> SharedRows:
        """Return rows with flows and links."""
        since, table = warm_up(run, draws), row_parameters(run, draws)
        in_bytes = self.counts_bytes(run)
        built = rows.build(self, run.transport, draws, table, warm_up=since, in_bytes=in_bytes)
        # With arriving flows, constants hold the distributions of sizes; users' controls are not supported.
        return built if self.classes else built._replace(constants=constants(run, draws))

    def offered(self, rows: SharedRows) -> Offered:
        """Return the load of all UDP flows on each link."""
        fields = [self.link_name(k) for k in used.numbers(self)]
        if self.links:
            fields = [f"{field} ({name})" for field, name in zip(fields, self.link_names(), strict=True)]
        return of_links(rows, fields)

    def row_bytes(self) -> int:
        """Return the memory of one row and its outcomes [byte]."""
        return rows.row_bytes(self)

    def features(self, run: Run, draws: Draws, rows_of: Callable[[], SharedRows]) -> dict[str, Floats]:
        """Return features of the route of the first flow."""
        return rows.features(rows_of())

    def packets(self, run: Run, fidelity: Fidelity) -> float:
        """Return the approximate number of packets by windows, rates and offered UDP load."""
        return workload.packets(self, run, fluid=fidelity == "fluid")

    def events(self, run: Run, rows: SharedRows, events: Floats) -> pd.DataFrame:
        """Return packets at links and hosts, and the state of senders, by flow and link."""
        alone = next(iter(self.kinds(run.transport).values()), None)
        names = self.link_names()
        names += [link_events.cable(k) for k in range(len(names), rows.links.shape[1])]
        return link_events.packets(events, link_events.protocols(rows, alone), names)

    def per_second(self, rows: SharedRows, frame: pd.DataFrame) -> pd.DataFrame | None:
        """Return the new payload of each flow at its receiver in each second."""
        return link_events.per_second(rows, frame)

    rare_outage_remedy = "write {cables: 0, outages: {down: 4 h a year}} in shared.failures"

    def rare_outages(self) -> list[Rare]:
        """Return the failures that are rarer than a run."""
        return [
            Rare(f"shared.failures.{g}.outages", *self._cables_in_words(failure))
            for g, failure in enumerate(self.failures)
            if isinstance(failure.outages, RareOutages)
        ]

    def one_by_one(self) -> dict[str, Any]:
        """Return the failures with a record for each cable that fails independently of others."""
        if not any(failure.cables == "each" for failure in self.failures):
            return {}
        return {"shared.failures": failures.one_by_one(self.failures, self.least_cables)}

    @property
    def before_s(self) -> float:
        """Time before a run from which outages matter [s]: that of two detections."""
        return backups.before_s(self.each_flow())

    @property
    def no_availability(self) -> str:
        """Reason why the availability cannot be estimated: cables of a random topology fail."""
        if self.random_cables and any(failure.cables == "each" for failure in self.failures):
            return "the number of cables that fail is random; list the links, or write cables: 0"
        return ""

    def _cables_in_words(self, failure: Failure) -> tuple[str, RareOutages, str]:
        """Return what fails, its outages, and its ends if it is one known cable."""
        assert isinstance(failure.outages, RareOutages)
        cables = failure.cables
        if not isinstance(cables, list):
            return f"{cables} cable", failure.outages, ""
        name = f"cable{'s' if len(cables) > 1 else ''} {listed([str(cable) for cable in cables])}"
        if len(cables) > 1 or self.random_cables:
            return name, failure.outages, ""
        link = failures.cables_of(np.array(self.reverse)).tolist().index(cables[0])
        return name, failure.outages, self.hop(*self.ends[link])

    def interruptions(self, rows: SharedRows) -> Sequence[Interruption]:
        """Return outages of cables and detours of flows, in order of time."""
        return sorted([*failures.interruptions(rows), *backups.interruptions(rows)], key=lambda i: i.start_s)

    def sources(self, run: Run, draws: Draws) -> Sequence[Source]:
        """Return the datagram flows without jitter and silent periods."""
        return rows.sources(self, draws, self.rows(run, draws))

    def link_names(self) -> list[str]:
        """Return the names of the links of a row by their routers; empty if they are random."""
        if self.random_cables:
            return []
        ends, names = self.ends, self.routers
        found = dict[tuple[int, int], int]()
        written = []
        for a, b in ends:
            count = found[a, b] = found.get((a, b), 0) + 1
            written.append(f"{names[a]}-{names[b]}" + (f" ({count})" if count > 1 else ""))
        return [written[k] for k in used.numbers(self) if k < len(written)]

    # Outcomes.

    def output(self, rows: SharedRows, integers: Ints | None = None) -> Output:
        """Return the output of flows, links and classes of arriving flows."""
        return SharedOutput(rows, integers)

    def measured_classes(self, rows: SharedRows) -> Sequence[Class]:
        """Return the classes of flows whose delays are measured."""
        return [*delays.of_rows(self, rows).values()]

    def named(self, integers: Ints, rows: SharedRows) -> Named:
        """Return the outcomes of the flows and of the links together, and of classes of flows."""
        return outcomes.named(integers, rows) | delays.named(self, integers, rows)

    def sent(self, integers: Ints, rows: SharedRows) -> int:
        """Return the number of data packets sent by all flows."""
        return int(outcomes.tables(integers, rows).flows[:, :, FlowOut.SENT].sum())

    def part_names(self, rows: SharedRows) -> dict[str, list[str]]:
        """Return the names of links and flows by their routers, if several links are always the same."""
        names = self.link_names()
        if len(names) != rows.links.shape[1] or len(names) <= 2:
            return {}
        found = {"links": names}
        least, most = self.flow_bounds
        if not self.classes and least == most:
            found["flows"] = self._flow_names(rows)
        return found

    def _flow_names(self, rows: SharedRows) -> list[str]:
        """Return the fields of flows, with their first and last router if fixed: `flows.0 (A-B)`."""
        fields = [
            f"flows.{g}" + (f".{k}" if isinstance(item, Flows) else "")
            for g, item in enumerate(self.flows)
            for k in range(int(bounds(self.count_of(item))[1]))
        ]
        if self.random_places:
            return fields
        kept, ends, names = used.numbers(self), self.ends, self.routers
        flows = rows.flows[0, : len(fields)]
        first = flows[:, Flow.ROUTE]
        last = flows[np.arange(len(flows)), Flow.ROUTE + flows[:, Flow.HOPS] - 1]
        return [
            f"{field} ({names[ends[kept[a]][0]]}-{names[ends[kept[b]][1]]})"
            for field, a, b in zip(fields, first.tolist(), last.tolist(), strict=True)
        ]

    # Fields.

    def repeated(self, given: Mapping[str, float]) -> dict[str, int]:
        """Return the cables and flows that one record describes, with their numbers."""
        found: dict[str, int] = {}
        for name in ("parking_lot", "tree", "graph"):
            layout, above = getattr(self, name), f"shared.{name}"
            if layout is not None and isinstance(layout.each, Cable):
                sizes = {f"{above}.{size}" for size in ("links", "routers", "cables", "degree")}
                found[above] = MAX_CABLES if sizes & set(given) else layout.most_each
        return found | self.repeated_flows(given)

    @classmethod
    def said(cls, parts: Sequence[str], rest: Sequence[str]) -> list[str]:
        """Return the words for a field without the key of the network, which all fields here share."""
        return super().said(parts, [part for part in rest if part != cls.key])
