"""Which classes the flows of a network are of: those that they name, or that of their protocol."""

from collections.abc import Sequence
from typing import Any

from netcarlo.errors import InputError
from netcarlo.kernels.base.delays import MOST_CLASSES
from netcarlo.kernels.base.layout import FOREVER, NS
from netcarlo.kernels.senders import ALONE, NAMES
from netcarlo.numerics.arrays import Ints
from netcarlo.schema.draws import Draws
from netcarlo.transport.classed import asked_by, class_of
from netcarlo.transport.kinds import sender_of

Described = Sequence[tuple[str, Any]]
"""Flows by the name of their fields."""

OTHER = "tcp"
"""The class of flows that name none and whose transport no other flow of the network may have."""

WORDS = NAMES | {ALONE: OTHER}
"""Classes of flows that name none, by the number of their sender."""


def asked(network: str, flows: Described) -> str:
    """The first field that asks for delays; empty if none does, and nothing is measured."""
    for name, flow in flows:
        if field := asked_by(flow):
            return f"{network}.{name}.{field}"
    return ""


def word_of(flow: Any, transport: Any) -> str:
    """The class of a flow."""
    if (word := class_of(flow)) is not None:
        return word
    return word if (word := sender_of(transport, flow).kind) in WORDS.values() else OTHER


def datagrams(flows: Described, transport: Any) -> frozenset[str]:
    """Return the classes with UDP flows, see `Network.datagrams`."""
    return frozenset(word_of(flow, transport) for _, flow in flows if sender_of(transport, flow).datagrams)


def words(network: str, flows: Described, transport: Any) -> list[str]:
    """The classes by number less 1, those first that flows name; none where nothing is measured.

    Raises InputError if there are too many.
    """
    if not asked(network, flows):
        return []
    others = [word_of(flow, transport) for _, flow in flows]
    found = list(dict.fromkeys([*_given(flows), *others]))
    if len(found) > MOST_CLASSES:
        there = f"{len(found)} classes ({', '.join(found)})"
        remedy = f"allowed is 1 to {MOST_CLASSES}; give some the same class"
        raise InputError(f"{network}.flows are of {there}; {remedy}")
    return found


def fill(
    table: Ints, columns: tuple[int, int], flow: Any, name: str, draws: Draws, *, transport: Any,
    of: list[str],
) -> None:  # fmt: skip
    """Fill in the class of a flow, one `of` these, and its bound, the columns [n, ...] of these numbers."""
    gauge, bound = columns
    if of:
        table[:, gauge] = 1 + of.index(word_of(flow, transport))
        table[:, bound] = FOREVER if flow.late is None else draws.whole(f"{name}.late", flow.late, NS)


def by_place(flows: Described, number: Ints, kinds: Ints, count: int) -> dict[int, str]:
    """The names of `count` classes by place, of which flows are these `number` and `kinds` [n, F]."""
    given = _given(flows)
    names = dict(enumerate(given))
    for place in range(len(given), count):
        if (mine := number == place + 1).any():
            names[place] = WORDS[int(kinds[mine][0])]
    return names


def refuse_of_all(data: Any) -> Any:
    """The data of flows that are described by `each`; raises InputError if they name a class of all."""
    for name in ("class", "late"):
        if isinstance(data, dict) and name in data:
            raise InputError(f"{name} is of each flow; write each: {{{name}: {data[name]}}}")
    return data


def _given(flows: Described) -> list[str]:
    """The classes that flows name, each once."""
    return list(dict.fromkeys(word for _, flow in flows if (word := class_of(flow))))
