"""Network interface of ad hoc networks."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pandas as pd

from netcarlo.errors import InputError
from netcarlo.kernels.adhoc.layout import MOST_SMALL, ManetOut, ManetRows
from netcarlo.kernels.base.address import Address
from netcarlo.kernels.base.delays import DelayOut
from netcarlo.kernels.base.parameters import RowP
from netcarlo.kernels.base.rows import split
from netcarlo.kernels.senders import WITH_FLUID
from netcarlo.networks import classes
from netcarlo.networks.adhoc import events, extents, outcomes, rows, workload
from netcarlo.networks.adhoc.description import Adhoc
from netcarlo.networks.adhoc.ignored_fields import IGNORED_FIELDS
from netcarlo.networks.adhoc.output import LOST, AdhocOutput
from netcarlo.networks.adhoc.phrase import phrase
from netcarlo.networks.extent import Compared
from netcarlo.networks.family import Fidelity, Named, Network, Speed
from netcarlo.networks.flows import late_ns
from netcarlo.networks.output import Output
from netcarlo.networks.run import Run, at_random_moments, constants, parameters
from netcarlo.numerics.arrays import Floats, Ints
from netcarlo.schema.draws import Draws
from netcarlo.schema.quantity import Number
from netcarlo.transport.classed import delay_field


class AdhocNetwork(Adhoc, Network):
    """An ad hoc network, see `Adhoc`."""

    key = "adhoc"
    speed = Speed(1e6, 1.6e7, 5.0)
    family = "adhoc"
    outcomes = outcomes.OUTCOMES
    ignored_fields = IGNORED_FIELDS
    no_warm_up = "write adhoc.mobility.warm_up"
    one_flow = True

    def check_run(self, run: Run, fidelity: Fidelity) -> None:
        """Check that linux has few enough packets for its timestamps."""
        asked, most = workload.exchanges(self, run), workload.MAX_LINUX_PACKETS
        if run.transport.stamped and asked > most:
            what = f"duration allows about {asked:.0f} packets"
            remedy = "shorten it, or write protocol: linux26"
            raise InputError(f"{what}, but linux over adhoc supports {most}; {remedy}")

    def queues(self) -> Iterator[tuple[str, Number]]:
        """Yield the limit of the nodes."""
        yield "adhoc.radio.queue", self.radio.queue

    def phrase(self, run: Run) -> str:
        """Return the transport, the nodes and their routing."""
        return f"{run.transport.traffic} between two of {phrase(self)}"

    # Models.

    def address(self, run: Run, *, fluid: bool) -> Address:
        """Return the address of the model of this transport."""
        transport, large = run.transport, self.most_nodes > MOST_SMALL
        return Address(
            "adhoc", transport.protocol, transport.control, fluid=fluid, delays=bool(self.word), large=large
        )

    def unknown(self, run: Run, fidelity: Fidelity) -> str:
        """Return the feature that the fluid model lacks; there is no formula."""
        if fidelity == "fluid" and (field := delay_field(run.transport)):
            return f"the {fidelity} model does not support delays of ad hoc networks (transport.{field})"
        if fidelity == "fluid":
            return run.transport.unknown_to_fluid((*WITH_FLUID, "sctp"))
        return "the formulae do not support ad hoc networks"

    def formula(self, run: Run, rows: ManetRows) -> Named:
        """Raise NotImplementedError, because there is no formula."""
        raise NotImplementedError

    def population(self, run: Run) -> tuple[str, str]:
        """Return network and protocol in the data of measured bias: static or mobile nodes."""
        kind = run.transport.growth
        return "adhoc static" if self.mobility.model == "static" else "adhoc", kind

    def compared(self, run: Run) -> Compared:
        """Return the mobility model and the extents of the protocol."""
        return extents.compared(run, self)

    # Rows.

    def rows(self, run: Run, draws: Draws) -> ManetRows:
        """Return rows with nodes, their mobility and their reception."""
        table = parameters(run, draws)
        if self.word:
            table[:, RowP.LATE] = late_ns(run.transport, "transport", draws)
        if run.transport.datagrams:
            at_random_moments(table, draws)
        return rows.build(self, draws, table, constants=constants(run, draws))

    def row_bytes(self) -> int:
        """Return the memory of one row and its outcomes [byte]."""
        return rows.row_bytes(self) + (8 * DelayOut.COLUMNS if self.word else 0)

    def features(self, run: Run, draws: Draws, rows_of: Callable[[], ManetRows]) -> dict[str, Floats]:
        """Return features of one hop; `path_loss` is the residual error."""
        return rows.features(self, draws, rows_of())

    def packets(self, run: Run, fidelity: Fidelity) -> float:
        """Return the approximate number of frames that fit into the run, plus legs of nodes."""
        return workload.packets(self, run)

    # Outcomes.

    def output(self, rows: ManetRows, integers: Ints | None = None) -> Output:
        """Return the output of the flow and the nodes."""
        return AdhocOutput(rows, integers)

    def named(self, integers: Ints, rows: ManetRows) -> Named:
        """Return the outcomes of the flow, the network and the nodes together, and of the flow's class."""
        values: Named = outcomes.named(integers, rows)
        if self.word:
            out = self.output(rows, integers)
            lost = out[LOST]
            values |= classes.named_of_one(
                self.word, split(integers, rows)["delays"], rows.parameters,
                lost=lost, settled=lost + out[ManetOut.RECEIVED],
                missing=out[ManetOut.SENT] - out[ManetOut.DELIVERED, ManetOut.IN_FLIGHT],
                goodput=values["goodput_bps"],
            )  # fmt: skip
        return values

    def sent(self, integers: Ints, rows: ManetRows) -> int:
        """Return the number of data packets that the flow sent."""
        return int(integers[:, ManetOut.SENT].sum())

    # One replication.

    def events(self, run: Run, rows: Any, events_: Floats) -> pd.DataFrame:
        """Return events of the flow, nodes, links and routes."""
        return events.moves(events_)

    # Fields.

    @classmethod
    def said(cls, parts: Sequence[str], rest: Sequence[str]) -> list[str]:
        """Return the words for a field without the key of the network, which all fields here share."""
        return super().said(parts, [part for part in rest if part != cls.key])
