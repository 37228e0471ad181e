"""Flows of a network: their description and their classes.

A network has a list of flows, described one by one or several at once (`ManyFlows`), or a single flow
described by the scenario's transport (`one`). Delays and losses are measured by class if any flow requests
it; `classes` names the outcomes.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import numpy as np
from pydantic import model_validator

from netcarlo.errors import InputError
from netcarlo.kernels.base.delays import MOST_CLASSES
from netcarlo.kernels.base.layout import FOREVER, NS
from netcarlo.kernels.senders import ALONE, NAMES, NUMBERS
from netcarlo.networks.run import Run
from netcarlo.numerics.arrays import Ints
from netcarlo.schema.draws import Draws
from netcarlo.schema.quantity import Number, Packets, Payload, Time, Transfer, Window, bounds
from netcarlo.schema.record import Record
from netcarlo.transport.classed import Classed, class_of, delay_field
from netcarlo.transport.congestion import CONTROLS_OF_LINUX
from netcarlo.transport.kinds import TCPS, kinds, sender_of
from netcarlo.transport.udp import Datagrams

OF_TCP = ("protocol", "congestion_control", "window", "payload")
"""Fields of a flow that define a TCP different from the scenario's."""


class FlowSpec(Classed):
    """A flow. Fields given here replace those of the transport."""

    protocol: Literal[(*TCPS, "linux")] | None = None  # type: ignore[valid-type]
    """TCP of this flow. Default: that of `transport`."""
    congestion_control: Literal[CONTROLS_OF_LINUX] | None = None  # type: ignore[valid-type]
    """Congestion control with `protocol: linux`. Default: that of `transport`, or CUBIC."""
    window: Window | None = None
    """Maximum number of packets in flight. Default: that of `transport`."""
    payload: Payload | None = None
    """Payload of a data packet. Default: that of `transport`."""
    start: Time | None = None
    """Start time of the flow. Default: that of `transport`."""
    bytes: Transfer | None = None
    """Size of the transfer. Default: that of `transport`."""
    packets: Packets | None = None
    """Size of the transfer in packets. Default: that of `transport`."""
    udp: Datagrams | None = None
    """UDP in place of the transport. Default: none."""

    not_of_udp: ClassVar[tuple[str, ...]] = OF_TCP
    """Fields that cannot be combined with `udp`."""

    @model_validator(mode="after")
    def _is_one_sender(self) -> Self:
        if self.bytes is not None and self.packets is not None:
            raise InputError("bytes and packets are both given; keep one")
        for name in self.not_of_udp:
            if self.udp is not None and getattr(self, name) is not None:
                remedy = f"write udp.{name}" if name in type(self.udp).model_fields else "remove it"
                raise InputError(f"udp and {name} are both given; {remedy}")
        return self

    @property
    def has_own_tcp(self) -> bool:
        """True if the flow defines a TCP that may differ from the scenario's."""
        return any(getattr(self, name) is not None for name in OF_TCP)


class Flows(Record):
    """Several flows: `each` is one record for all of them, or a list of records."""

    if TYPE_CHECKING:
        count: Any
        each: Any

    @model_validator(mode="before")
    @classmethod
    def _names_no_class(cls, data: Any) -> Any:
        for name in ("class", "late"):
            if isinstance(data, dict) and name in data:
                raise InputError(f"{name} belongs to each flow; write each: {{{name}: {data[name]}}}")
        return data

    @property
    def most_each(self) -> int:
        """Maximum number of flows."""
        return int(bounds(self.count)[1])

    def flow(self, k: int) -> Any:
        """Return the record of flow `k`."""
        return self.each[k] if isinstance(self.each, list) else self.each


def one_or_several(several: type[Flows]) -> Callable[[Any], str]:
    """Return the function that distinguishes `several` flows, `<flows>`, from one flow, `<flow>`, in a
    list."""

    def tag(data: Any) -> str:
        found = set(several.model_fields) & set(data) if isinstance(data, dict) else isinstance(data, several)
        return "<flows>" if found else "<flow>"

    return tag


# Classes.

Described = Sequence[tuple[str, Any]]
"""Names and records of flows; a name is the field in the scenario."""

OTHER = "tcp"
"""Default class of flows with a transport that cannot be mixed with others."""

WORDS = NAMES | {ALONE: OTHER}
"""Default classes of flows by the number of their sender type."""


def one(transport: Any) -> Described:
    """Return the flow of a network with one flow."""
    return [("transport", transport)]


def first_delay_field(flows: Described) -> str:
    """Return the first field that requests delay statistics; empty if none does."""
    return next((f"{name}.{field}" for name, flow in flows if (field := delay_field(flow))), "")


def word_of(flow: Any, transport: Any) -> str:
    """Return the class of a flow: the one that it names, or its sender type."""
    if (word := class_of(flow)) is not None:
        return word
    kind: str = sender_of(transport, flow).kind
    if kind in NUMBERS:
        return kind
    return str(transport.protocol) if flow is transport else OTHER


def words(flows: Described, transport: Any) -> list[str]:
    """Return the classes in order of their numbers (from 1), first those named by flows; empty if none is
    measured."""
    if not first_delay_field(flows):
        return []
    return list(dict.fromkeys([*_given(flows), *(word_of(flow, transport) for _, flow in flows)]))


def datagrams(flows: Described, transport: Any) -> frozenset[str]:
    """Return the classes with UDP flows, and an empty name for all flows, see `Network.datagrams`."""
    found = {word_of(flow, transport) for _, flow in flows if sender_of(transport, flow).datagrams}
    return frozenset(found | {""} if found else found)


def late_ns(flow: Any, name: str, draws: Draws) -> Ints:
    """Return the delay limit of a flow, int64[n] [ns]; FOREVER without a limit."""
    if flow.late is None:
        return np.full(len(draws.replications), FOREVER)
    return draws.whole(f"{name}.late", flow.late, NS)


def fill(
    table: Ints, columns: tuple[int, int], flow: Any, name: str, draws: Draws, *, transport: Any,
    of: list[str],
) -> None:  # fmt: skip
    """Fill in the class of a flow, one of the list `of`, and its delay limit, in these columns [n, ...]."""
    gauge, bound = columns
    if of:
        table[:, gauge] = 1 + of.index(word_of(flow, transport))
        table[:, bound] = late_ns(flow, name, draws)


def by_place(flows: Described, number: Ints, kinds: Ints, count: int) -> dict[int, str]:
    """Return the names of `count` classes by index; flows have these class `number`s and sender `kinds`
    [n, F]."""
    given = _given(flows)
    names = dict(enumerate(given))
    for place in range(len(given), count):
        if (mine := number == place + 1).any():
            names[place] = WORDS[int(kinds[mine][0])]
    return names


def _given(flows: Described) -> list[str]:
    """Return the classes that flows name, each once."""
    return list(dict.fromkeys(word for _, flow in flows if (word := class_of(flow))))


# Networks.


class ManyFlows(Record):
    """A network with a list of `flows`: each item describes one flow or several."""

    if TYPE_CHECKING:
        key: ClassVar[str]
        flows: Any

    def each_flow(self) -> Described:
        """Return the records of all possible flows; a record of several flows occurs once.

        Names are relative to the network.
        """
        found: list[tuple[str, Any]] = []
        for g, item in enumerate(self.flows if isinstance(self.flows, list) else []):
            if not isinstance(item, Flows):
                found.append((f"flows.{g}", item))
            elif isinstance(item.each, list):
                found += [(f"flows.{g}.each.{k}", flow) for k, flow in enumerate(item.each)]
            else:
                found.append((f"flows.{g}.each", item.each))
        return found

    def described(self) -> Described:
        """Return the records of `each_flow` with the full names of their fields in the scenario."""
        return [(f"{self.key}.{name}", flow) for name, flow in self.each_flow()]

    @property
    def asks_for_delays(self) -> str:
        """Return the first field that requests delay statistics; empty if none does."""
        return first_delay_field(self.described())

    def kinds(self, transport: Any) -> dict[str, Any]:
        """Return the TCP or SCTP records of its flows by sender type."""
        return kinds([flow for _, flow in self.each_flow()] or [FlowSpec()], transport)

    def class_names(self, transport: Any) -> list[str]:
        """Return the classes of its flows in order of their numbers; empty if none is measured."""
        return words(self.described(), transport)

    def check_flows(self, transport: Any) -> None:
        """Raise InputError for a list with fewer records than flows, or for too many classes."""
        for g, item in enumerate(self.flows if isinstance(self.flows, list) else []):
            if not (isinstance(item, Flows) and isinstance(item.each, list)):
                continue
            if (have := len(item.each)) < (most := int(bounds(self.count_of(item))[1])):
                what = f"{self.key}.flows.{g}.each has {have} items, but there can be {most} flows"
                raise InputError(f"{what}; write an item for each, or one record for all")
        found = self.class_names(transport)
        if len(found) > MOST_CLASSES:
            there = f"{len(found)} classes ({', '.join(found)})"
            remedy = f"expected 1 to {MOST_CLASSES}; give some the same class"
            raise InputError(f"{self.key}.flows have {there}; {remedy}")

    def datagrams(self, run: Run) -> frozenset[str]:
        """See `Network.datagrams`."""
        return datagrams(self.described() or one(run.transport), run.transport)

    def senders(self, run: Run) -> Sequence[Any]:
        """See `Network.senders`."""
        return [sender_of(run.transport, flow) for _, flow in self.each_flow()] or [run.transport]

    def starts(self) -> Sequence[str]:
        """Return the fields of the start times of TCP flows, or `transport.start` if there are none.

        Each TCP flow can draw its own start time. The start times of datagrams are always random.
        """
        return [f"{name}.start" for name, flow in self.described() if flow.udp is None] or ["transport.start"]

    def count_of(self, item: Any) -> Number:
        """Return the number of flows that an item describes."""
        return item.count if isinstance(item, Flows) else 1.0

    @property
    def flow_bounds(self) -> tuple[int, int]:
        """Minimum and maximum number of flows."""
        counts = [bounds(self.count_of(item)) for item in self.flows]
        return sum(int(low) for low, _ in counts), sum(int(high) for _, high in counts)

    def repeated_flows(self, given: Mapping[str, float]) -> dict[str, int]:
        """See `Network.repeated`: the items of several flows that one record describes."""
        found = {}
        for g, item in enumerate(self.flows if isinstance(self.flows, list) else []):
            if isinstance(item, Flows) and not isinstance(item.each, list):
                name = f"{self.key}.flows.{g}"
                found[name] = int(given.get(f"{name}.count", bounds(self.count_of(item))[1]))
        return found


def check_own(name: str, flow: FlowSpec, transport: Any) -> None:
    """Raise InputError if the flow of this name has a field that its sender does not support."""
    sender = sender_of(transport, flow)
    given = next((field for field in flow.not_of_udp if getattr(flow, field) is not None), None)
    if given is not None and sender is transport and sender.datagrams:
        remedy = "add protocol: newreno to the flow, or use udp"
        raise InputError(f"{name}.{given} is a field of TCP, and the transport is udp; {remedy}")
    if flow.congestion_control is not None and not sender.own_association:
        remedy = "add protocol: linux to the flow"
        raise InputError(f"{name}.congestion_control is supported only with linux; {remedy}")


def jitter_of(flows: Described, flow: Any) -> str:
    """Return the field of the jitter of a datagram flow, which is one of these `flows`."""
    if flow.udp is None:
        return "transport.jitter"
    return next(f"{name}.udp.jitter" for name, record in flows if record is flow)
