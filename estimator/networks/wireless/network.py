"""Network interface of 802.11 networks."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import pandas as pd

from netcarlo.errors import InputError
from netcarlo.kernels.base.address import Address
from netcarlo.kernels.senders import LINUX_FLUID
from netcarlo.kernels.wireless.layout import FlowOut, WifiRows, arrival_classes, delay_classes
from netcarlo.networks.classes import Class
from netcarlo.networks.extent import Compared
from netcarlo.networks.family import Fidelity, Named, Network, Speed
from netcarlo.networks.flows import check_own
from netcarlo.networks.interruption import Interruption
from netcarlo.networks.offered import Offered
from netcarlo.networks.output import Output
from netcarlo.networks.run import Run, constants, parameters, warm_up
from netcarlo.networks.sources import Source
from netcarlo.networks.wireless import (
    delays,
    events,
    extents,
    fluid,
    formula,
    formula_edca,
    outages,
    outcomes,
    phrase,
    rows,
    workload,
)
from netcarlo.networks.wireless import flows as wifi_flows
from netcarlo.networks.wireless.description import Link, Wireless
from netcarlo.networks.wireless.ignored_fields import IGNORED_FIELDS
from netcarlo.networks.wireless.offered import of_radio
from netcarlo.networks.wireless.output import WifiOutput
from netcarlo.numerics.arrays import Floats, Ints
from netcarlo.schema.draws import Draws
from netcarlo.schema.quantity import Number, bounds
from netcarlo.transport.kinds import not_mixed, own_association, sender_of


class WirelessNetwork(Wireless, Network):
    """An 802.11 network, see `Wireless`."""

    key = "wireless"
    speed = Speed(5e6, 4e8, 10.0)
    family = "wireless"
    outcomes = outcomes.OUTCOMES
    ignored_fields = IGNORED_FIELDS

    def check_run(self, run: Run, fidelity: Fidelity) -> None:
        """Check the senders, classes and outages, and fields that a sender or its receiver does not
        support."""
        self.check_flows(run.transport)
        outages.check(self.outages, bounds(run.duration)[1])
        if self.outages is not None and self.fq_codel is not None:
            raise InputError("wireless.fq_codel is not supported with outages; remove one of them")
        self._check_own(run.transport)
        found = self.kinds(run.transport).values()
        reads = self.receiver is not None and self.receiver.read is not None
        if wrong := [tcp.protocol for tcp in found if reads and not tcp.reads_late]:
            why = "whose receiver acknowledges before the application reads"
            raise InputError(f"wireless.receiver.read is not supported with {wrong[0]}, {why}; remove it")
        if any(tcp.stamped for tcp in (run.transport, *found)):
            self._check_linux(run)

    def queues(self) -> Iterator[tuple[str, Number]]:
        """Yield the limit of the nodes."""
        yield "wireless.queue", self.queue

    def _check_own(self, transport: Any) -> None:
        """Check that flows' own TCPs can be mixed, that datagrams have no TCP fields, and saturated flows are
        datagrams."""
        for name, flow in self.described():
            check_own(name, flow, transport)
            if flow.saturated and not sender_of(transport, flow).datagrams:
                what = f"{name}.saturated is supported only for UDP flows"
                raise InputError(f"{what}; add udp: {{rate: 1 Mbit/s}} to the flow, or remove it")
        where = "if flows of 802.11 have their own TCP" if self.has_own_tcps else "with arrivals"
        mixed = self.has_own_tcps or bool(self.classes)
        if mixed and (text := not_mixed(self.kinds(transport), where, own=not self.classes)):
            raise InputError(text)
        for name, item in self.classes:
            each = item.each if isinstance(item.each, list) else [item.each]
            if any(sender_of(transport, flow).datagrams for flow in each):
                raise InputError(f"{name}.arrivals need TCP; write transport.protocol: newreno")

    def _check_linux(self, run: Run) -> None:
        """Check the limits of linux: no back pressure, and a number of packets that fits its timestamps."""
        if self.back_pressure:
            raise InputError(
                "wireless.back_pressure is not supported with linux; remove it, or write protocol: linux26"
            )
        asked, most = workload.packets(self, run), workload.MAX_LINUX_PACKETS
        if asked > most:
            what = f"duration needs about {asked:.0f} packets"
            remedy = "shorten it, or write protocol: linux26"
            raise InputError(f"{what}, but linux over 802.11 supports {most}; {remedy}")

    def phrase(self, run: Run) -> str:
        """Return the flows, the standard and the layout."""
        return f"{phrase.flows(self, run.transport)} in {phrase.phrase(self)}"

    # Models.

    def address(self, run: Run, *, fluid: bool) -> Address:
        """Return the address of the model: for one TCP, for heterogeneous flows, for SCTP, or for UDP."""
        if fluid:
            return Address("wireless", "mixed", fluid=True, edca=self.has_edca)
        transport = run.transport
        asked: dict[str, Any] = {
            "varying": self.outages is not None, "delays": bool(self.asks_for_delays),
            "edca": self.has_edca,
        }  # fmt: skip
        asked["arrivals"] = bool(self.classes)
        if self.has_mixed_tcps(transport):
            return Address("wireless", "mixed", own_association(self.kinds(transport).values()), **asked)
        return Address("wireless", transport.protocol, transport.control, **asked)

    def unknown(self, run: Run, fidelity: Fidelity) -> str:
        """Return the feature that the fast model lacks; the formula is Bianchi's model."""
        if self.classes:
            return f"the {fidelity} model does not support {self.classes[0][0]}.arrivals"
        if self.has_own_tcps:
            return f"the {fidelity} model does not support 802.11 flows with their own TCP"
        if field := self.asks_for_delays:
            return f"the {fidelity} model does not support delays of classes ({field})"
        if self.outages is not None:
            return f"the {fidelity} model does not support outages of an access point"
        if fidelity == "fluid":
            return fluid.unknown(self, run.transport)
        if self.cell is None or self.flows != "up" or self.reach is not None:
            return "Bianchi's model supports only a cell whose stations hear each other and send up"
        transport = run.transport
        if not transport.datagrams or transport.packets is not None or transport.bytes is not None:
            return "Bianchi's model supports only endless UDP"
        if self.rate_control != "fixed" or (self.each != type(self.each)() and not self.has_edca):
            return "Bianchi's model supports only one fixed rate for all stations"
        if bounds(self.burst)[1] != 1:
            return "Bianchi's model supports only burst: 1"
        if any(bounds(error)[1] > 0 for error in self.frame_errors):
            return "Bianchi's model supports only frame_error: 0"
        if bounds(self.cw_min)[0] < 1:
            return "Bianchi's model needs a backoff, but cw_min can be 0"
        window = None if self.edca is None else self.edca.best_effort.cw_min
        if window is not None and bounds(window)[0] < 1:
            return "Bianchi's model needs a backoff, but edca.best_effort.cw_min can be 0"
        if self.wire is not None or self.receiver is not None or self.sender_delay is not None:
            return "Bianchi's model does not support wire, receiver and sender_delay"
        return ""

    def formula(self, run: Run, rows: WifiRows) -> Named:
        """Return the outcomes by Bianchi's model."""
        return formula_edca.formula(rows) if self.has_edca else formula.formula(rows)

    def population(self, run: Run) -> tuple[str, str]:
        """Return network and protocol in the data of measured bias: access, layout, direction of flows and
        rate control."""
        transport, flows = run.transport, self.flows
        kind = transport.growth if transport.kind not in LINUX_FLUID else transport.kind
        if isinstance(flows, list):
            return "flows of one's own", kind
        layout = "cells" if self.cell is not None else "meshes" if self.area is not None else "chains"
        if self.has_edca:
            layout = f"EDCA {layout}"
        if layout == "chains" and self.reach is not None:
            layout += " with hidden nodes"
        if self.rate_control != "fixed":
            layout += f" with {self.rate_control}"
        return layout if flows == "up" else f"{layout} {flows}", kind

    def compared(self, run: Run) -> Compared:
        """Return the extents of each protocol of the flows."""
        return extents.compared(run, self)

    # Rows.

    def rows(self, run: Run, draws: Draws) -> WifiRows:
        """Return rows with flows, links, hosts and reception masks."""
        table, values = parameters(run, draws), constants(run, draws)
        since = warm_up(run, draws)
        return rows.build(self, run.transport, draws, table, constants=values, warm_up=since)

    def offered(self, rows: WifiRows) -> Offered:
        """Return the load of the nodes and of the channel."""
        place = "gateway" if self.cell is None else "access point"
        return of_radio(rows, f"the {place} of the 802.11 network")

    def row_bytes(self) -> int:
        """Return the memory of one row and its outcomes [byte]."""
        return rows.row_bytes(self)

    def features(self, run: Run, draws: Draws, rows_of: Callable[[], WifiRows]) -> dict[str, Floats]:
        """Return features of the route of the first flow; `path_loss` is the frame error probability."""
        return rows.features(self, draws, rows_of())

    def packets(self, run: Run, fidelity: Fidelity) -> float:
        """Return the approximate number of frames that fit into the run, plus offered UDP packets."""
        return workload.packets(self, run)

    def sources(self, run: Run, draws: Draws) -> Sequence[Source]:
        """Return the datagram flows without jitter."""
        return wifi_flows.sources(self, draws, self.rows(run, draws))

    # Outcomes.

    def output(self, rows: WifiRows, integers: Ints | None = None) -> Output:
        """Return the output of flows and nodes."""
        return WifiOutput(rows, integers)

    def measured_classes(self, rows: WifiRows) -> Sequence[Class]:
        """Return the classes of flows whose delays are measured."""
        return [*delays.of_rows(self, rows).values()]

    def named(self, integers: Ints, rows: WifiRows) -> Named:
        """Return the outcomes of the flows and of the nodes together, and of classes of flows."""
        return outcomes.named(integers, rows) | delays.named(self, integers, rows)

    def sent(self, integers: Ints, rows: WifiRows) -> int:
        """Return the number of data packets sent by all flows."""
        found = outcomes.tables(
            integers, flows=rows.most_flows, classes=delay_classes(rows), arrivals=arrival_classes(rows),
            node_columns=rows.node_columns,
        )
        return int(found.flows[:, :, FlowOut.SENT].sum())

    # One replication.

    def events(self, run: Run, rows: Any, events_: Floats) -> pd.DataFrame:
        """Return the frames by node and flow."""
        return events.frames(events_)

    def per_second(self, rows: WifiRows, frame: pd.DataFrame) -> pd.DataFrame | None:
        """Return the payload that reached the end of each flow's route in each second."""
        return events.per_second(rows, frame)

    def interruptions(self, rows: WifiRows) -> Sequence[Interruption]:
        """Return the outages of the access point."""
        return outages.interruptions(rows)

    # Fields.

    @property
    def most_each(self) -> int:
        """Maximum number of links."""
        return self.most_stations

    def repeated(self, given: Mapping[str, float]) -> dict[str, int]:
        """Return the links and flows that one record describes, with their numbers."""
        found = {"wireless": self.most_stations} if isinstance(self.each, Link) else {}
        return found | self.repeated_flows(given)
