"""A kind of network: all that the rest of the house asks of one.

Each kind is a folder beside this file whose `network.py` answers, and a line in `registry`.
"""

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Literal, Self

import pandas as pd
from pydantic import PrivateAttr

from netcarlo.errors import InputError
from netcarlo.kernels.base.address import Address
from netcarlo.networks import flows
from netcarlo.networks.classes import Class, measured_of, of_one
from netcarlo.networks.extent import Compared
from netcarlo.networks.interruption import Interruption
from netcarlo.networks.offered import Offered
from netcarlo.networks.outcome import Outcome, measured
from netcarlo.networks.output import Output, by_part, evaluated
from netcarlo.networks.repeated import one_by_one
from netcarlo.networks.run import Run
from netcarlo.networks.sources import Source
from netcarlo.numerics.arrays import Floats, Ints
from netcarlo.schema.draws import Draws
from netcarlo.schema.record import Record

Fidelity = Literal["packet", "fluid", "formula"]
"""Packets are simulated; or a fluid model, or formulae, stand for them."""

SILENT = ("transport", "each")
"""Parts of a dotted name that are left out in words."""

Named = dict[str, Any]
"""Outcomes of rows by name, [n] each."""


class Network(Record):
    """A network of one kind.  `run` is the scenario that it belongs to, `rows` what the kernels read of it.

    `integers` [n, ...] are what a kernel wrote for `rows` [n], see `kernels.base.rows.trim`.
    """

    key: ClassVar[str]
    """Its field of a scenario."""
    family: ClassVar[str]
    """Its name in the kernels, and that of its folders."""
    written: ClassVar[str] = ""
    """What a user writes for that field, where that is something shorter."""
    outcomes: ClassVar[tuple[Outcome, ...]]
    """All outcomes that it measures; those that no kind before it has are `outcome.declared`."""
    ignored_fields: ClassVar[dict[str, tuple[str, ...]]]
    """Patterns of the fields that cheap models of the network do not read, by fidelity (and protocol)."""
    no_warm_up: ClassVar[str] = ""
    """What to do instead of giving a `warm_up`, where that is not for this kind."""
    of_hosts: ClassVar[tuple[str, ...]] = ()
    """Fields of a transport about applications and receivers (`tcp.OF_HOSTS`) that it knows."""
    one_flow: ClassVar[bool] = False
    """True if it has one flow, which the transport describes and whose class the transport may name."""
    untraced: ClassVar[str] = ""
    """What its kernels cannot write a trace of; empty where they can."""

    _word: str = PrivateAttr("")

    @classmethod
    def of(cls, run: Any) -> "Network | None":
        """The network of this kind that a scenario has."""
        found: Network | None = getattr(run, cls.key)
        return found.model_copy().with_flow(run.transport) if found is not None and cls.one_flow else found

    def with_flow(self, transport: Any) -> Self:
        """Give this network the flow that a transport describes."""
        self._word = next(iter(flows.words(flows.one(transport), transport)), "")
        return self

    @property
    def word(self) -> str:
        """Class of its one flow; empty if nothing is measured, or if it has many flows."""
        return self._word

    @abstractmethod
    def check_run(self, run: Run, fidelity: Fidelity) -> None:
        """Raise InputError for what does not go together, or where no time would pass."""

    # Models.

    @abstractmethod
    def address(self, run: Run, *, fluid: bool) -> Address:
        """The kernel model that simulates it, in packets or as a fluid that knows it."""

    @abstractmethod
    def unknown(self, run: Run, fidelity: Fidelity) -> str:
        """What the fluid model or the formulae do not know of it; empty if nothing."""

    @abstractmethod
    def formula(self, run: Run, rows: Any) -> Named:
        """Outcomes of its rows in the steady state, by formulae that know it."""

    @abstractmethod
    def population(self, run: Run) -> tuple[str, str]:
        """Network and protocol under which the bias of a cheap fidelity was measured, if it was."""

    def compared(self, run: Run) -> Compared:
        """Return the kind of network in the data of validated ranges, and the extents of each protocol."""
        return Compared("", {})

    # Rows.

    @abstractmethod
    def rows(self, run: Run, draws: Draws) -> Any:
        """What the kernels read: a row for each of the replications of `draws`."""

    @abstractmethod
    def row_bytes(self) -> int:
        """Memory of one row and of its outcomes; those of a launch are as wide as the widest."""

    @abstractmethod
    def features(self, run: Run, draws: Draws, rows_of: Callable[[], Any]) -> dict[str, Floats]:
        """Features of the route of the first flow, see `ensemble.features`; `rows_of` builds those
        of `draws`."""

    @abstractmethod
    def packets(self, run: Run, fidelity: Fidelity) -> float:
        """Packets of a replication, about, and what takes as long, see `workload`."""

    def sources(self, run: Run, draws: Draws) -> Sequence[Source]:
        """Return the sources of datagrams that can stay in step, in the network of the first of `draws`."""
        return ()

    # Outcomes.

    def output(self, rows: Any, integers: Ints | None = None) -> Output:
        """Return what outcomes and their conditions are computed from; conditions do without integers."""
        return Output(rows, integers)

    def named(self, integers: Ints, rows: Any) -> Named:
        """Return the outcomes of rows by name."""
        return evaluated(self.outcomes, self.output(rows, integers))

    def measured_classes(self, rows: Any) -> Sequence[Class]:
        """Return the classes of flows whose outcomes are measured."""
        return of_one(self.word, self.output(rows).p)

    def measured(self, rows: Any, fidelity: Fidelity) -> list[str]:
        """Return the names of the outcomes that are measured in one of the rows at least."""
        fluid = fidelity == "fluid"
        own = measured(self.outcomes, self.output(rows), fluid=fluid)
        return [*own, *measured_of(self.measured_classes(rows), fluid=fluid)]

    @abstractmethod
    def sent(self, integers: Ints, rows: Any) -> int:
        """Data packets put out in all replications."""

    def datagrams(self, run: Run) -> frozenset[str]:
        """Return the classes with flows whose lost packets nobody retransmits (UDP); an empty name stands for
        all flows."""
        return flows.datagrams(flows.one(run.transport), run.transport)

    def offered(self, rows: Any) -> Offered | None:
        """Return the load that sources of constant rate offer to each link; None where no link has a
        capacity."""
        return None

    def by_part(self, part: str, integers: Ints, rows: Any) -> Named:
        """Return the outcomes of each of its flows or links by name, [n, parts]."""
        if found := by_part(self.outcomes, part, self.output(rows, integers)):
            return found
        raise InputError(f"there are no outcomes by {part} with {self.key}")

    # One replication.

    def events(self, run: Run, rows: Any, events: Floats) -> pd.DataFrame:
        """The trace that a kernel wrote of the first row, float64[events, len(Trace)], as a table."""
        raise NotImplementedError

    def per_second(self, rows: Any, frame: pd.DataFrame) -> pd.DataFrame | None:
        """Of the first row's table of events: what each flow carried in each second [bit/s]; or None."""
        return None

    def interruptions(self, rows: Any) -> Sequence[Interruption]:
        """When links of the first row are down, where that is known before the run."""
        return ()

    # Fields.

    def starts(self) -> Sequence[str]:
        """Return the fields of the starts of flows, except starts that are drawn in any case."""
        return ("transport.start",)

    @property
    def random_places(self) -> bool:
        """Whether anything is drawn beside the fields."""
        return False

    def repeated(self, given: Mapping[str, float]) -> dict[str, int]:
        """Fields with one record `each` of several, and how many those are with these values of fields.

        A record with such a field has the most there can be as `most_each`.
        """
        return {}

    def written_out(self, data: dict[str, Any], given: Mapping[str, float]) -> dict[str, str]:
        """Write what is `repeated` one by one into the data of a scenario.

        Returns which of the `given` fields each field is from.
        """
        repeated = self.repeated(given)
        within = tuple(f"{above}.each." for above in repeated)
        source = {name: name for name in given if not any(part in name for part in within)}
        for above, size in repeated.items():
            source |= one_by_one(given, data, above, size)
        return source

    @classmethod
    def in_words(cls, parts: Sequence[str]) -> str:
        """Return the words for a dotted name, split at its dots: `hops.1 rate`.

        Parts up to the last number keep the path that they have in the file, so that a reader finds them.
        """
        last = max((k for k, part in enumerate(parts) if part.isdecimal()), default=-1)
        element, rest = parts[: last + 1], parts[last + 1 :]
        if list(element[:2]) == ["paths", "0"]:
            element = element[2:]
        return " ".join([*filter(None, [".".join(element)]), *cls.said(parts, rest)])

    @classmethod
    def said(cls, parts: Sequence[str], rest: Sequence[str]) -> list[str]:
        """Return the words for the end of a dotted name behind its last number, or for all of it."""
        counted = next((part for part in ("hops", "flows", "cables") if part in parts), "cables")
        names = {"count": f"number of {counted}"}
        return [names.get(part, part.replace("_", " ")) for part in rest if part not in SILENT]
