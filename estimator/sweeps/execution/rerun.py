"""Reruns one cell of a store, or one replication of it, from its resolved scenario alone."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from netcarlo.errors import InputError
from netcarlo.estimation.estimate import estimate
from netcarlo.scenario import Scenario
from netcarlo.simulation.provenance import model_version
from netcarlo.simulation.simulate import simulate
from netcarlo.sweeps.space import controls, identity
from netcarlo.sweeps.space.file import SweepSpec
from netcarlo.sweeps.space.space import Sweep
from netcarlo.sweeps.store.store import Store


@dataclass(frozen=True)
class Rerun:
    """What came of a cell, and what the store has of it."""

    scenario: Scenario
    stored: dict[str, Any]
    """The row of the store."""
    table: pd.DataFrame
    """A row per outcome: of the cell as in `Estimate.table`, of one replication its `value`."""
    equal: bool | None
    """Whether every stored statistic came out the same to the bit; None if the store has none to compare."""
    error: str
    """Why the cell cannot be simulated; empty if it can."""


def rerun(store: Store, key: str, *, replication: int | None = None, target: str = "cpu") -> Rerun:
    """Simulate the cell whose key begins with `key` again, or only one replication of it.

    Nothing of the sweep but the definition of the cell is used, so this checks the store, too.
    Raises InputError if the key is unknown or ambiguous, if the models are no longer the same, if the cell is
    not that of its key, or if the store brings Python that is not trusted, see `control`.
    """
    stored = find(store, key)
    written = store.manifest["sweep"]["model_version"]
    if written != model_version():
        have = store.manifest["versions"].get("netcarlo", "?")
        raise InputError(
            f"the store was written by models {written} (netcarlo {have}), these are {model_version()}; "
            "use that version of netcarlo, or sweep again into another folder"
        )
    definition = store.manifest["definition"]
    controls.refuse_unless_trusted(definition)
    spec = SweepSpec.check({name: value for name, value in definition.items() if name != "files"})
    sweep = Sweep.from_definition(spec.model_dump(mode="json", exclude_none=True) | definition)
    cell = int(stored["cell"])
    answering = sweep.answering(stored.get("answered_by", "packet"))
    scenario = identity.scenario(answering, cell) if sweep.digest == store.sweep["digest"] else None
    if scenario is None or identity.key(scenario) != stored["key"]:
        raise InputError(
            f"store {store.url}: its digest and the key of cell {cell} are not those of its manifest: it was "
            "altered; get it again from where it was made"
        )
    try:
        if replication is None:
            table = estimate(scenario, target=target, large=True).table
            equal = _same_statistics(sweep, stored, table) if stored["status"] == "ok" else None
        else:
            frame = simulate(scenario, first=replication, replications=1, target=target, large=True).frame
            table = frame.T.set_axis(["value"], axis=1).rename_axis("outcome")
            equal = _same_replication(store, sweep, stored, replication, frame)
    except InputError:
        raise
    except Exception as error:  # the outcome of a cell that failed
        return Rerun(scenario, stored, pd.DataFrame(), None, f"{type(error).__name__}: {error}")
    return Rerun(scenario, stored, table, equal, "")


def find(store: Store, key: str) -> dict[str, Any]:
    """The row of the cell whose key begins with `key`; raises InputError."""
    found: dict[str, dict[str, Any]] = {}
    for table in store.tables():
        keys = table.column("key").to_numpy(zero_copy_only=False)
        for i in np.flatnonzero(np.char.startswith(keys.astype(str), key)):
            found.setdefault(str(keys[i]), table.slice(int(i), 1).to_pylist()[0])
    if not key or not found:
        remedy = "netcarlo query STORE 'SELECT cell, key FROM cells' lists them"
        raise InputError(f"no cell has the key '{key}'; {remedy}")
    if len(found) > 1:
        some = ", ".join(sorted(found)[:3])
        raise InputError(f"{len(found)} cells have keys that begin with '{key}' ({some}); write more of it")
    return next(iter(found.values()))


def _same_statistics(sweep: Sweep, stored: dict[str, Any], table: pd.DataFrame) -> bool:
    names = {"": "mean", "_sd": "sd", "_low": "ci_low", "_high": "ci_high", "_n": "n",
             **{f"_{q}": q for q in ("q05", "q25", "q50", "q75", "q95")}}  # fmt: skip
    return all(
        _equal(stored[outcome + suffix], table.loc[outcome, column])
        for outcome in sweep.outcomes
        if outcome in table.index  # else no network of the cell has it
        for suffix, column in names.items()
    )


def _same_replication(
    store: Store, sweep: Sweep, stored: dict[str, Any], replication: int, frame: pd.DataFrame
) -> bool | None:
    if not sweep.keep_replications or stored["status"] != "ok":
        return None
    kept = store.replications(cells=[int(stored["cell"])])
    mine = kept[kept["replication"] == replication]
    if mine.empty:
        return None
    return all(_equal(mine[name].iloc[0], frame[name].iloc[0]) for name in frame.columns if name in mine)


def _equal(a: Any, b: Any) -> bool:
    return bool(a == b or (np.isnan(a) and np.isnan(b)))
