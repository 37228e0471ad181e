"""Interface of a kind of network.

Each kind is a folder next to this file, whose `network.py` implements the interface, and a field in
`registry`.
"""

from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, ClassVar, Literal, NamedTuple, Self

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
from netcarlo.networks.rare import Rare
from netcarlo.networks.repeated import one_by_one
from netcarlo.networks.run import Run
from netcarlo.networks.sources import Source
from netcarlo.numerics.arrays import Floats, Ints
from netcarlo.schema.draws import Draws
from netcarlo.schema.quantity import Number
from netcarlo.schema.record import Record

Fidelity = Literal["packet", "fluid", "formula"]
"""Model: packets are simulated, or a fluid model or formulae approximate them."""

SILENT = ("transport", "each")
"""Parts of a dotted field name that are omitted in text."""

Named = dict[str, Any]
"""Outcomes of rows by name, [n] each."""


class Speed(NamedTuple):
    """Approximate speeds of kernels, for the choice of a target."""

    core: float
    """Packets per second of a processor core (docs/results/scaling.md)."""
    gpu: float
    """Packets per second of a full GPU (docs/results/gpu-h200.md)."""
    assembly: float
    """Time of translation and assembly for a GPU, relative to compilation for the processor."""


class Network(Record):
    """A network of one kind. `run` is the scenario that contains it, `rows` is the input of the kernels.

    `integers` [n, ...] are the output of a kernel for `rows` [n], see `kernels.base.rows.trim`.
    """

    key: ClassVar[str]
    """Field of the network in a scenario."""
    family: ClassVar[str]
    """Name of the network in the kernels and of its folders."""
    written: ClassVar[str] = ""
    """Short form of that field in user files; empty if there is none."""
    outcomes: ClassVar[tuple[Outcome, ...]]
    """All outcomes that the network measures; `outcome.declared` selects those not declared by an earlier
    kind."""
    ignored_fields: ClassVar[dict[str, tuple[str, ...]]]
    """Patterns of the fields that fast models of the network ignore, by fidelity (and protocol)."""
    no_warm_up: ClassVar[str] = ""
    """Alternative to `warm_up` for networks that do not support it; empty if supported."""
    of_hosts: ClassVar[tuple[str, ...]] = ()
    """Fields of a transport about applications and receivers (`tcp.OF_HOSTS`) that the network supports."""
    one_flow: ClassVar[bool] = False
    """True for networks with one flow, which the transport describes."""
    untraced: ClassVar[str] = ""
    """Reason why its kernels cannot write traces; empty if they can."""

    _word: str = PrivateAttr("")

    @classmethod
    def of(cls, run: Any) -> "Network | None":
        """Return the network of this kind in a scenario; None if there is none."""
        found: Network | None = getattr(run, cls.key)
        return found.model_copy().with_flow(run.transport) if found is not None and cls.one_flow else found

    def with_flow(self, transport: Any) -> Self:
        """Set the flow that a transport describes, and return the network."""
        self._word = next(iter(flows.words(flows.one(transport), transport)), "")
        return self

    @property
    def word(self) -> str:
        """Class of the network's one flow; empty if it is not measured, or for networks with many flows."""
        return self._word

    @abstractmethod
    def check_run(self, run: Run, fidelity: Fidelity) -> None:
        """Raise InputError for fields that cannot be combined, or if a packet could take no time."""

    def queues(self) -> Iterable[tuple[str, Number]]:
        """Return the limits of the queues for data that may be sizes, with the names of their fields."""
        return ()

    @abstractmethod
    def phrase(self, run: Run) -> str:
        """Return traffic and network in a phrase: `NewReno over one hop (10 Mbit/s, 10 ms)`."""

    # Models.

    @abstractmethod
    def address(self, run: Run, *, fluid: bool) -> Address:
        """Return the address of the kernel model that simulates the network, with packets or as a fluid."""

    @abstractmethod
    def unknown(self, run: Run, fidelity: Fidelity) -> str:
        """Return the feature that the fluid model or the formulae do not support; empty if there is none."""

    @abstractmethod
    def formula(self, run: Run, rows: Any) -> Named:
        """Return the steady-state outcomes of rows by formulae."""

    @abstractmethod
    def population(self, run: Run) -> tuple[str, str]:
        """Return network and protocol in the data of measured bias of fast models."""

    def compared(self, run: Run) -> Compared:
        """Return the kind of network in the data of validated ranges, and the extents of each protocol."""
        return Compared("", {})

    # Rows.

    @abstractmethod
    def rows(self, run: Run, draws: Draws) -> Any:
        """Return the input of the kernels: one row per replication of `draws`."""

    @abstractmethod
    def row_bytes(self) -> int:
        """Return the memory of one row and its outcomes [byte]; all rows of a launch have the size of the
        largest."""

    @abstractmethod
    def features(self, run: Run, draws: Draws, rows_of: Callable[[], Any]) -> dict[str, Floats]:
        """Return features of the route of the first flow, see `ensemble.features`; `rows_of` builds the
        rows of `draws`."""

    @abstractmethod
    def packets(self, run: Run, fidelity: Fidelity) -> float:
        """Return the approximate number of packets of a replication, and of steps that take as long, see
        `workload`."""

    def sources(self, run: Run, draws: Draws) -> Sequence[Source]:
        """Return the datagram sources that can stay synchronised, in the network of the first of `draws`."""
        return ()

    # Outcomes.

    def output(self, rows: Any, integers: Ints | None = None) -> Output:
        """Return the output from which outcomes and their conditions are computed; conditions need no
        integers."""
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
        """Return the number of data packets sent in all replications."""

    def senders(self, run: Run) -> Sequence[Any]:
        """Return the record of the sender of each flow; flows with one record occur once."""
        return [run.transport]

    def datagrams(self, run: Run) -> frozenset[str]:
        """Return the classes that have flows without retransmissions (UDP); an empty name stands for all
        flows."""
        return flows.datagrams(flows.one(run.transport), run.transport)

    def offered(self, rows: Any) -> Offered | None:
        """Return the load that constant-rate sources offer to each link; None if no link has a capacity."""
        return None

    def by_part(self, part: str, integers: Ints, rows: Any) -> Named:
        """Return the outcomes of each flow or link by name, [n, parts]."""
        if found := by_part(self.outcomes, part, self.output(rows, integers)):
            return found
        raise InputError(f"outcomes by {part} are not available with {self.key}")

    def part_names(self, rows: Any) -> dict[str, list[str]]:
        """Return the names of the links and flows of rows, by part (`links`, `flows`).

        Empty if they differ between replications, or if there is only one link.
        """
        return {}

    # One replication.

    def events(self, run: Run, rows: Any, events: Floats) -> pd.DataFrame:
        """Return the trace events of the first row, float64[events, len(Trace)], as a table."""
        raise NotImplementedError

    @property
    def goodput_over_time(self) -> bool:
        """True if `per_second` is supported."""
        return type(self).per_second is not Network.per_second

    def per_second(self, rows: Any, frame: pd.DataFrame) -> pd.DataFrame | None:
        """Return the goodput of each flow in each second [bit/s] from a table of events; None if not
        supported."""
        return None

    def interruptions(self, rows: Any) -> Sequence[Interruption]:
        """Return the times at which links of the first row are down, as far as known before the run."""
        return ()

    # Outages of years.

    def rare_outages(self) -> Sequence[Rare]:
        """Return the outages that are rarer than a run, one for each hop or group of cables."""
        return ()

    speed: ClassVar[Speed] = Speed(1e6, 1e8, 5.0)
    """Approximate speeds of its kernels; the default is for kinds that were not measured."""
    rare_outage_remedy: ClassVar[str] = ""
    """Advice for a scenario without an outage that is rarer than a run; empty if not supported."""

    def one_by_one(self) -> dict[str, Any]:
        """Return the fields to set so that each hop or cable that fails on its own has its own record."""
        return {}

    @property
    def before_s(self) -> float:
        """Time before a run from which outages matter [s]."""
        return 0.0

    @property
    def no_availability(self) -> str:
        """Reason why the availability cannot be estimated; empty if it can."""
        return ""

    # Fields.

    def starts(self) -> Sequence[str]:
        """Return the fields of the start times of flows, except start times that are always random."""
        return ("transport.start",)

    @property
    def has_bottleneck(self) -> bool:
        """True if the lowest rate of one path limits the goodput, see `features`."""
        return False

    @property
    def random_places(self) -> bool:
        """True if anything besides the fields is random, such as positions."""
        return False

    def repeated(self, given: Mapping[str, float]) -> dict[str, int]:
        """Return the fields whose record `each` describes several parts, with their number for these values
        of fields.

        A record with such a field has the maximum number as `most_each`.
        """
        return {}

    def written_out(self, data: dict[str, Any], given: Mapping[str, float]) -> dict[str, str]:
        """Write each `repeated` part separately into the data of a scenario.

        Returns the field of `given` from which each new field was derived.
        """
        repeated = self.repeated(given)
        within = tuple(f"{above}.each." for above in repeated)
        source = {name: name for name in given if not any(part in name for part in within)}
        for above, size in repeated.items():
            source |= one_by_one(given, data, above, size)
        return source

    @classmethod
    def in_words(cls, parts: Sequence[str]) -> str:
        """Return a dotted name, split at its dots, as text: `hops.1 rate`, `number of hops`, `rate of a hop`.

        Parts up to the last number keep the path that they have in the file, so that a reader finds them. The
        count of the first item of a list, and what is drawn for each of its elements, need no path.
        """
        last = max((k for k, part in enumerate(parts) if part.isdecimal()), default=-1)
        element, rest = list(parts[: last + 1]), parts[last + 1 :]
        if element[:2] == ["paths", "0"]:
            element = element[2:]
        words = cls.said(parts, rest)
        if element == ["hops", "0"] and rest[0] in ("count", "each"):
            return " ".join(words) + (" of a hop" if rest[0] == "each" else "")
        return " ".join([*filter(None, [".".join(element)]), *words])

    @classmethod
    def said(cls, parts: Sequence[str], rest: Sequence[str]) -> list[str]:
        """Return the words for the end of a dotted name after its last number, or for the whole name."""
        counted = next((part for part in ("hops", "flows", "cables") if part in parts), "cables")
        names = {"count": f"number of {counted}"}
        return [names.get(part, part.replace("_", " ")) for part in rest if part not in SILENT]
