"""Identity of a cell: its resolved scenario, and a key that is computed from it.

The key is a hash of every field of the resolved scenario and of the version of the models. So results of
different models have different keys.
"""

import hashlib
from collections.abc import Iterable
from contextlib import suppress
from itertools import repeat
from typing import TYPE_CHECKING, Any

import numpy as np

from netcarlo.errors import InputError
from netcarlo.numerics.arrays import Ints
from netcarlo.scenario import Scenario
from netcarlo.schema import fields
from netcarlo.schema.names import with_values
from netcarlo.simulation.provenance import model_version

if TYPE_CHECKING:
    from netcarlo.sweeps.space.space import Batch, Sweep


def scenario(sweep: "Sweep", cell: int) -> Scenario:
    """Return the scenario of a cell, including all drawn, derived and swept values."""
    batch = next(iter(sweep.batches(np.array([cell]))))
    return _resolved(sweep, batch, 0)[0]


def scenarios(sweep: "Sweep", cells: Ints) -> dict[int, Scenario]:
    """Return the scenarios of cells [n] by cell, without those that cannot be simulated.

    Faster than `scenario` of each.
    """
    found = {}
    for batch in sweep.batches(cells):
        for i, cell in enumerate(cells[batch.at].tolist()):
            with suppress(InputError):
                found[cell] = _resolved(sweep, batch, i)[0]
    return dict(sorted(found.items()))


def key(resolved: Scenario) -> str:
    """Return the key of a resolved scenario, 32 hexadecimal digits."""
    return _hash(fields.texts(resolved))


def keys(sweep: "Sweep", batch: "Batch") -> list[str]:
    """Return the keys of the cells of a batch: faster than `key` of each `scenario`."""
    n = len(batch.at)
    counts = [values for name, values in batch.given.items() if name.endswith(".count")]
    shapes, group = np.unique(np.stack([np.zeros(n), *counts], axis=1), axis=0, return_inverse=True)
    found = [""] * n
    for number in range(len(shapes)):
        members = np.flatnonzero(group.reshape(-1) == number)
        for i, made in zip(members.tolist(), _alike(sweep, batch, members), strict=True):
            found[i] = made
    return found


def _alike(sweep: "Sweep", batch: "Batch", members: Ints) -> list[str]:
    """Return the keys of cells that differ only in numbers; the hashed text is assembled from pieces."""
    items, sources = _example(sweep, batch, int(members[0]))
    pieces: list[Iterable[str]] = []
    fixed = model_version()
    for name, text in items:
        fixed += f"\n{name}="
        if name in sources:
            column = batch.given[sources[name]][members].tolist()
            pieces += [repeat(fixed), map(repr, map(int, column) if name == "topology" else column)]
            fixed = ""
        else:
            fixed += text
    texts = map("".join, zip(*pieces, [fixed] * len(members), strict=False))
    return [_digest(text) for text in texts]


def _example(sweep: "Sweep", batch: "Batch", i: int) -> tuple[list[tuple[str, str]], dict[str, str]]:
    """Return the fields of cell `i` as texts, and for each field the name in `batch.given` that it comes
    from.

    The result is cached: all cells with the same variant and counts differ only in the given fields, and
    checking a scenario takes as long as simulating several.
    """
    shape = (batch.variant, *(float(v[i]) for name, v in batch.given.items() if name.endswith(".count")))
    if shape not in sweep.examples:
        example, sources = _resolved(sweep, batch, i)
        sweep.examples[shape] = fields.texts(example), sources
    return sweep.examples[shape]


def _hash(items: list[tuple[str, str]]) -> str:
    return _digest("\n".join([model_version(), *(f"{name}={text}" for name, text in items)]))


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def _resolved(sweep: "Sweep", batch: "Batch", i: int) -> tuple[Scenario, dict[str, str]]:
    """Return the scenario of cell `i` of a batch, and for each field the name in `batch.given` that it comes
    from."""
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
