"""Makes a store one of a larger sweep: with more draws, more values on axes, more replications.

All that changes is the manifest, in one step; it holds the one before.  What is missing then is run like
anything that is missing.
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
from netcarlo.sweeps.store.manifest import About, Draw
from netcarlo.sweeps.store.store import FORMAT, MANIFEST, Store, differences

GROWS = {"axes", "draw", "compare", "files", "description", "scenario.replications", "scenario.description"}
"""Of a definition; the first four are looked at as they are resolved."""


def grown(store: Store, sweep: Sweep) -> Store:
    """The store as one of `sweep`, of which it holds a part; on the disk nothing changes before `keep`.

    Raises InputError unless every cell that is there is a cell of the sweep, to the bit.
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
    """Put the manifest of a `grown` store in place of that before.  Raises InputError."""
    there = Store.open(store.url).manifest
    if there == store.manifest:
        return
    if there != store.manifest.get("grown_from", {}).get("manifest"):
        raise InputError(f"store {store.url}: another client changed it just now; run the same command again")
    store.files.write(MANIFEST, json.dumps(store.manifest, indent=1).encode())


def part(store: Store) -> tuple[int, str]:
    """How many cells of a store are finished, and the digest of their rows."""
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
    """What a store grew from, the latest first: cells and digest as they were, and if they still are so."""
    found = []
    while (earlier := store.earlier) is not None:
        was = store.manifest["grown_from"]
        intact = part(earlier) == (was["cells"], was["digest"])
        found.append({"cells": was["cells"], "digest": was["digest"], "intact": intact})
        store = earlier
    return found


def _unlike(before: Mapping[str, Any], after: Mapping[str, Any]) -> str:
    """Why the sweep of one manifest is no part of that of another; empty if it may be one."""
    old, new = manifests.about(before), manifests.about(after)
    was, now = before["definition"], after["definition"]
    if old.name != new.name:
        return f"it holds the sweep '{old.name}', not '{new.name}'; name another folder"
    if old.model_version != new.model_version:
        return (
            f"it is of the models {old.model_version}, netcarlo has {new.model_version} now and results of "
            "the two do not mix; name another folder"
        )
    if old.auto or new.auto:
        return (
            "with fidelity: auto what cheap models may decide depends on all cells; write packet and name "
            "another folder"
        )
    if other := [name for name in differences(was, now) if name not in GROWS]:
        return (
            f"the sweeps differ in {', '.join(other)}; only draws, values of axes and replications can be "
            "added: leave the rest as it was, or name another folder"
        )
    files = was.get("files", {})
    if any(now.get("files", {}).get(path) != text for path, text in files.items()):
        return "a file of congestion control is another; leave it as it was, or name another folder"
    return _replications(old, new) or _axes(old, new) or _draws(old, new)


def _replications(old: About, new: About) -> str:
    if old.replications == new.replications:
        return ""
    if old.precision is not None:
        return "with precision the number of replications follows from it; leave replications as it was"
    if new.replications < old.replications:
        return (
            f"replications = {new.replications}, and it has {old.replications}; allowed is that or more "
            "(with keep: replications)"
        )
    if not old.keep_replications:
        return (
            f"replications = {new.replications}, but it holds statistics of {old.replications} alone, to "
            "which none can be added; write keep: replications where that is to come, and name another folder"
        )
    return ""


def _axes(old: About, new: About) -> str:
    names = [[axis.name for axis in about.axes] for about in (old, new)]
    if names[0] != names[1]:
        return f"its axes are {', '.join(names[0]) or 'none'}; keep them and their order, and add values only"
    if old.compare != new.compare:
        remedy = f"write compare: {old.compare}" if old.compare else "leave that axis as it was"
        return f"it compares {old.compare or 'nothing'}, not {new.compare}; {remedy}"
    for a, b in zip(old.axes, new.axes, strict=True):
        shown = [f"{value:g}" if isinstance(value, float) else value for value in a.values]
        if (a.numeric, a.unit) != (b.numeric, b.unit):
            return f"axes.{a.name} has values of another kind; it has {', '.join(shown)}, add to those"
        if gone := [text for value, text in zip(a.values, shown, strict=True) if value not in b.values]:
            return f"axes.{a.name} lacks {', '.join(gone)} {a.unit}".rstrip() + ", which it has; keep all"
        if versions.where(a.values, b.values) is None:
            return f"axes.{a.name} has its values in another order; keep {', '.join(shown)} in theirs"
        if a.name == old.compare and a.values[0] != b.values[0]:
            return f"axes.{a.name} begins with {b.values[0]}; keep the baseline, {shown[0]}, first"
    return ""


def _draws(old: About, new: About) -> str:
    if old.draw is None or new.draw is None:
        same = old.draw == new.draw
        return "" if same else f"draw is {'new' if new.draw else 'gone'}; leave it as it was"
    if old.draw.method != new.draw.method:
        return f"draw.method = {new.draw.method}, and it has {old.draw.method}; leave it as it was"
    if old.inputs != new.inputs:
        return f"other fields are drawn; it has {', '.join(old.inputs)}, leave them as they were"
    if new.draw.count < old.draw.count:
        return f"draw.count = {new.draw.count}, and it has {old.draw.count}; allowed is that or more"
    return _blocks(old.draw, new.draw)


def _blocks(old: Draw, new: Draw) -> str:
    """Why old draws are not the first of the new ones: only whole blocks, as large as before, can follow."""
    if old.method == "plain" or old.count * new.blocks == new.count * old.blocks:
        return ""
    step = old.count // math.gcd(old.count, old.blocks)
    count = -(-new.count // step) * step
    blocks = count * old.blocks // old.count
    return (
        f"draw has {old.count} {old.method} draws in {old.blocks} blocks, and larger blocks would be other "
        f"networks; add blocks of that size: draw: {{count: {count}, method: {old.method}, blocks: {blocks}}}"
    )


def _check_keys(store: Store, sweep: Sweep) -> None:
    """Raise InputError unless the cells that are there are cells of the sweep, by their keys."""
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
                        f"store {store.url}: cannot grow: its cell {cells[i]} would be another one; leave "
                        "all but draws, values of axes and replications as it was, or name another folder"
                    )
