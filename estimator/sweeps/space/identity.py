"""What a cell is: its fully resolved scenario, and the key made from it.

A key is a hash of every field of the resolved scenario and of the version of the models, so that
results of changed physics never pass for others.
"""

import hashlib
from collections.abc import Callable
from typing import Any

import numpy as np

from netcarlo.scenario import Scenario
from netcarlo.schema import fields
from netcarlo.schema.names import with_values
from netcarlo.simulation.provenance import model_version
from netcarlo.sweeps.space.space import Batch, Sweep


def scenario(sweep: Sweep, cell: int) -> Scenario:
    """The scenario of a cell with every drawn, derived and swept value written in it."""
    batch = next(iter(sweep.batches(np.array([cell]))))
    return _resolved(sweep, batch, 0)[0]


def key(resolved: Scenario) -> str:
    """The identity of a resolved scenario, 32 hexadecimal digits."""
    return _hash(fields.texts(resolved))


def keys(sweep: Sweep, batch: Batch) -> list[str]:
    """The keys of the cells of a batch: `key` of each `scenario`, much faster."""
    n = len(batch.at)
    counts = [values for name, values in batch.given.items() if name.endswith(".count")]
    shapes, group = np.unique(np.stack([np.zeros(n), *counts], axis=1), axis=0, return_inverse=True)
    found = [""] * n
    for number in range(len(shapes)):
        members = np.flatnonzero(group.reshape(-1) == number)
        make = _maker(sweep, batch, int(members[0]))
        for i in members:
            found[int(i)] = make(int(i))
    return found


def _maker(sweep: Sweep, batch: Batch, i: int) -> Callable[[int], str]:
    """The key of a cell that differs from cell `i` of the batch in numbers only."""
    example, sources = _resolved(sweep, batch, i)
    items = fields.texts(example)
    columns = [batch.given[sources[name]].tolist() if name in sources else None for name, _ in items]
    whole = [name == "topology" for name, _ in items]

    def make(j: int) -> str:
        return _hash(
            [
                (name, text if column is None else repr(int(column[j]) if integer else column[j]))
                for (name, text), column, integer in zip(items, columns, whole, strict=True)
            ]
        )

    return make


def _hash(items: list[tuple[str, str]]) -> str:
    lines = [f"{name}={text}" for name, text in items]
    return hashlib.sha256("\n".join([model_version(), *lines]).encode()).hexdigest()[:32]


def _resolved(sweep: Sweep, batch: Batch, i: int) -> tuple[Scenario, dict[str, str]]:
    """The scenario of cell `i` of a batch, and the given field that each of its fields is from."""
    variant = sweep.variants[batch.variant]
    data = variant.model_dump(mode="json", exclude_none=True)
    given = {name: float(values[i]) for name, values in batch.given.items()}
    source = {name: name for name in given}
    if sweep.design is not None:
        source = variant.network.written_out(data, given)
    values: dict[str, Any] = {}
    for new, old in source.items():
        value = given[old]
        if new == "topology":
            values[new] = int(value)
        else:
            limits = fields.quantity(variant, _generic(old))
            values[new] = value if limits is None else limits.show(value)
    return Scenario.check(with_values(data, values)), source


def _generic(name: str) -> str:
    above, each, rest = name.partition(".each.")
    if not each:
        return name
    head, _, tail = rest.partition(".")
    return f"{above}.each.{tail if head.isdecimal() else rest}"
