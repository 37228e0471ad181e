"""Growth of a store: more draws, more values of axes, or more replications.

Only the manifest changes, atomically; the new manifest contains the previous one. The new cells are then
missing cells like any others.
"""

import json
import math
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import pyarrow.compute as pc

from netcarlo.errors import InputError
from netcarlo.sweeps.space.identity import keys
from netcarlo.sweeps.space.space import Sweep
from netcarlo.sweeps.store import digests, versions
from netcarlo.sweeps.store import manifest as manifests
from netcarlo.sweeps.store.manifest import Draw, SweepEntry
from netcarlo.sweeps.store.store import FORMAT, MANIFEST, Store, differences

GROWABLE = {
    "axes",
    "draw",
    "compare",
    "files",
    "description",
    "scenario.replications",
    "scenario.description",
}
"""Entries of a definition that may change; the first four are compared in resolved form."""


def grown(store: Store, sweep: Sweep) -> Store:
    """Return the store as a store of `sweep`, of which it has a part. Nothing is written before `keep`.

    Raises InputError unless every stored cell is exactly a cell of the sweep.
    """
    made = sweep.manifest()
    if store.sweep["digest"] == made["sweep"]["digest"]:
        return Store.create(store.url, made)
    if why := _unlike(store.manifest, made):
        raise InputError(f"store {store.url}: cannot grow: {why}")
    _check_keys(store, sweep)
    cells, digest = part(store)
    now = datetime.now(UTC).isoformat(timespec="seconds")
    before = {"cells": cells, "digest": digest, "manifest": store.manifest}
    return Store(store.files, {**made, "format": FORMAT, "created": now, "grown_from": before})


def keep(store: Store) -> None:
    """Replace the previous manifest by that of a `grown` store. Raises InputError."""
    there = Store.open(store.url).manifest
    if there == store.manifest:
        return
    if there != store.manifest.get("grown_from", {}).get("manifest"):
        raise InputError(f"store {store.url}: another client has just changed it; run the same command again")
    store.files.write(MANIFEST, json.dumps(store.manifest, indent=1).encode())


def part(store: Store) -> tuple[int, str]:
    """Return the number of finished cells of a store, and the digest of their rows."""
    rows = 0

    def finished() -> Any:
        nonlocal rows
        for table in store.tables():
            good = table.filter(pc.equal(table.column("status"), "ok"))
            rows += good.num_rows
            yield good

    digest = digests.digest(finished())
    return rows, digest


def history(store: Store) -> list[dict[str, Any]]:
    """Return the earlier versions of a store, latest first: cells, digest, and whether they are `intact`."""
    found = []
    while (earlier := store.earlier) is not None:
        was = store.manifest["grown_from"]
        intact = part(earlier) == (was["cells"], was["digest"])
        found.append({"cells": was["cells"], "digest": was["digest"], "intact": intact})
        store = earlier
    return found


def _unlike(before: Mapping[str, Any], after: Mapping[str, Any]) -> str:
    """Return the reason why the sweep of one manifest is not part of another; empty if it may be."""
    old, new = manifests.sweep_entry(before), manifests.sweep_entry(after)
    was, now = before["definition"], after["definition"]
    if old.name != new.name:
        return f"it is a store of the sweep '{old.name}', not '{new.name}'; name another folder"
    if old.model_version != new.model_version:
        return (
            f"it was written by model version {old.model_version}, this is {new.model_version}, and their "
            "results cannot be mixed; name another folder"
        )
    if old.auto or new.auto:
        return (
            "with fidelity: auto the decisions of cheap models depend on all cells; write packet and name "
            "another folder"
        )
    if other := [name for name in differences(was, now) if name not in GROWABLE]:
        return (
            f"the sweeps differ in {', '.join(other)}; only draws, values of axes and replications can be "
            "added; undo the other changes, or name another folder"
        )
    files = was.get("files", {})
    if any(now.get("files", {}).get(path) != text for path, text in files.items()):
        return "a congestion control file has changed; undo the change, or name another folder"
    return _replications(old, new) or _axes(old, new) or _draws(old, new)


def _replications(old: SweepEntry, new: SweepEntry) -> str:
    if old.replications == new.replications:
        return ""
    if old.precision is not None:
        return (
            "with precision the number of replications cannot change; restore "
            f"replications: {old.replications}"
        )
    if new.replications < old.replications:
        return (
            f"replications = {new.replications} is too small; expected {old.replications} or more "
            "(with keep: replications)"
        )
    if not old.keep_replications:
        return (
            f"replications = {new.replications}, but the store has only statistics of {old.replications} "
            "replications, which cannot be extended; write keep: replications and name another folder"
        )
    return ""


def _axes(old: SweepEntry, new: SweepEntry) -> str:
    names = [[axis.name for axis in about.axes] for about in (old, new)]
    if names[0] != names[1]:
        return f"its axes are {', '.join(names[0]) or 'none'}; keep them and their order, and only add values"
    if old.compare != new.compare:
        remedy = f"write compare: {old.compare}" if old.compare else "undo the change of that axis"
        return f"it compares {old.compare or 'nothing'}, not {new.compare}; {remedy}"
    for a, b in zip(old.axes, new.axes, strict=True):
        shown = [f"{value:g}" if isinstance(value, float) else value for value in a.values]
        if (a.numeric, a.unit) != (b.numeric, b.unit):
            return (
                f"axes.{a.name} has values of another kind; the store has {', '.join(shown)}; keep these "
                "and add more"
            )
        if gone := [text for value, text in zip(a.values, shown, strict=True) if value not in b.values]:
            return (
                f"axes.{a.name} lacks {', '.join(gone)} {a.unit}".rstrip() + " of the store; keep all values"
            )
        if versions.positions_in(a.values, b.values) is None:
            return f"axes.{a.name} has the values in another order; keep the order {', '.join(shown)}"
        if a.name == old.compare and a.values[0] != b.values[0]:
            return f"axes.{a.name} begins with {b.values[0]}; keep the baseline {shown[0]} first"
    return ""


def _draws(old: SweepEntry, new: SweepEntry) -> str:
    if old.draw is None or new.draw is None:
        same = old.draw == new.draw
        return "" if same else f"draw was {'added' if new.draw else 'removed'}; undo this change"
    if old.draw.method != new.draw.method:
        method = old.draw.method
        return f"draw.method = {new.draw.method}, but the store has {method}; write method: {method}"
    if old.inputs != new.inputs:
        return f"other fields are random; the store has {', '.join(old.inputs)}; make the same fields random"
    if new.draw.count < old.draw.count:
        return f"draw.count = {new.draw.count} is too small; expected {old.draw.count} or more"
    return _blocks(old.draw, new.draw)


def _blocks(old: Draw, new: Draw) -> str:
    """Return the reason why the old draws are not the first of the new ones; empty if they are.

    Only whole blocks of the same size can be added.
    """
    if old.method == "plain" or old.count * new.blocks == new.count * old.blocks:
        return ""
    step = old.count // math.gcd(old.count, old.blocks)
    count = -(-new.count // step) * step
    blocks = count * old.blocks // old.count
    return (
        f"the store has {old.count} {old.method} draws in {old.blocks} blocks, and larger blocks would "
        f"change the networks; write draw: {{count: {count}, method: {old.method}, blocks: {blocks}}}"
    )


def _check_keys(store: Store, sweep: Sweep) -> None:
    """Raise InputError unless the keys of all stored cells are keys of the sweep."""
    scenario = sweep.definition["scenario"] | {"replications": store.sweep["replications"]}
    asked = Sweep.from_definition(sweep.definition | {"scenario": scenario})
    made = versions.versions({**sweep.manifest(), "grown_from": {"manifest": store.manifest}})
    version = made[store.sweep["digest"]]
    for table in store.tables(["cell", "key"]):
        cells, there = table.column("cell").to_numpy(), table.column("key").to_pylist()
        for batch in asked.batches(version.renumber(cells)):
            for i, key in zip(batch.at.tolist(), keys(asked, batch), strict=True):
                if key != there[i]:
                    raise InputError(
                        f"store {store.url}: cannot grow: its cell {cells[i]} would change; change only "
                        "draws, values of axes and replications, or name another folder"
                    )
