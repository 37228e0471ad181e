"""What a cell is: its fully resolved scenario, and the key made from it.

A key is a hash of every field of the resolved scenario and of the version of the models, so that
results of changed physics never pass for others.
"""

import copy
import hashlib
from collections.abc import Callable
from typing import Any

import numpy as np

from netcarlo.networks.shared.description import MOST_CABLES, Cable, Flow, Flows
from netcarlo.networks.wireless.description import Link
from netcarlo.scenario import Hops, Scenario, with_values
from netcarlo.schema import fields
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
    source = {name: name for name in batch.given}
    if sweep.design is not None:
        source = {}
        for p, route in enumerate(variant.paths):
            written = data["paths"][p]["hops"]
            explicit: list[Any] = []
            data["paths"][p]["hops"] = explicit
            for h, hop in enumerate(route.hops):
                old = f"paths.{p}.hops.{h}"
                if not isinstance(hop, Hops):
                    source |= _moved(batch, f"{old}.", f"paths.{p}.hops.{len(explicit)}.")
                    explicit.append(written[h])
                    continue
                count = batch.given.get(f"{old}.count", hop.count)
                for k in range(int(count[i] if isinstance(count, np.ndarray) else count)):  # type: ignore[arg-type]
                    new = f"paths.{p}.hops.{len(explicit)}."
                    source |= _moved(batch, f"{old}.each.", new) | _moved(batch, f"{old}.each.{k}.", new)
                    explicit.append(copy.deepcopy(written[h]["each"]))
        lists = _lists(variant, batch, i)
        within = (".hops.", *(f"{above}.each." for above in lists))
        source |= {name: name for name in batch.given if not any(part in name for part in within)}
        for above, size in lists.items():
            source |= _one_by_one(batch, data, above, size)
    values: dict[str, Any] = {}
    for new, old in source.items():
        value = float(batch.given[old][i])
        if new == "topology":
            values[new] = int(value)
        else:
            limits = fields.quantity(variant, _generic(old))
            values[new] = value if limits is None else limits.show(value)
    return Scenario.check(with_values(data, values)), source


def _lists(variant: Scenario, batch: Batch, i: int) -> dict[str, int]:
    """Fields with one record `each` of several links or flows, and how many those are in cell `i`."""
    found: dict[str, int] = {}
    if variant.wireless is not None and isinstance(variant.wireless.each, Link):
        found["wireless"] = variant.wireless.most_stations
    if variant.shared is None:
        return found
    for name in ("parking_lot", "tree", "graph"):
        layout, above = getattr(variant.shared, name), f"shared.{name}"
        if layout is not None and isinstance(layout.each, Cable):
            sizes = {f"{above}.{size}" for size in ("links", "routers", "cables", "degree")}
            found[above] = MOST_CABLES if sizes & set(batch.given) else layout.most_each
    for g, flows in enumerate(variant.shared.flows):
        if isinstance(flows, Flows) and isinstance(flows.each, Flow):
            count = batch.given.get(f"shared.flows.{g}.count")
            found[f"shared.flows.{g}"] = flows.most_each if count is None else int(count[i])
    return found


def _one_by_one(batch: Batch, data: dict[str, Any], above: str, size: int) -> dict[str, str]:
    """Write `each` of a field out as a list of this size; where the given fields in it are from."""
    owner: Any = data
    for part in above.split("."):
        owner = owner[int(part)] if isinstance(owner, list) else owner[part]
    written = owner["each"]
    owner["each"] = [copy.deepcopy(written) for _ in range(size)]
    source: dict[str, str] = {}
    for k in range(size):
        new = f"{above}.each.{k}."
        source |= _moved(batch, f"{above}.each.", new) | _moved(batch, new, new)
    return source


def _moved(batch: Batch, old: str, new: str) -> dict[str, str]:
    """Given fields below `old`, under the names they have below `new`."""
    below = [name for name in batch.given if name.startswith(old) and not name[len(old)].isdecimal()]
    return {new + name[len(old) :]: name for name in below}


def _generic(name: str) -> str:
    above, each, rest = name.partition(".each.")
    if not each:
        return name
    head, _, tail = rest.partition(".")
    return f"{above}.each.{tail if head.isdecimal() else rest}"
