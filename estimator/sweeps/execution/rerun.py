"""Rerun of one cell of a store, or of one replication, from the resolved scenario."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from netcarlo.errors import InputError
from netcarlo.estimation.estimate import estimate
from netcarlo.scenario import Scenario
from netcarlo.simulation.provenance import model_version
from netcarlo.simulation.simulate import simulate
from netcarlo.sweeps.space import congestion_files, identity
from netcarlo.sweeps.space.file import SweepSpec
from netcarlo.sweeps.space.space import Sweep
from netcarlo.sweeps.store.store import Store


@dataclass(frozen=True)
class Rerun:
    """Result of a rerun, and the stored row of the cell."""

    scenario: Scenario
    """Resolved scenario of the cell."""
    stored: dict[str, Any]
    """Row of the store."""
    table: pd.DataFrame
    """A row for each outcome: as in `Estimate.table`; for one replication its `value`."""
    frame: pd.DataFrame
    """A row for each replication, see `Outcomes.frame`."""
    equal: bool | None
    """True if every stored statistic is equal to the bit; None if the store has none to compare with."""
    error: str
    """Error of the simulation; empty if there was none."""


def rerun(store: Store, key: str, *, replication: int | None = None, target: str = "cpu") -> Rerun:
    """Simulate the cell whose key begins with `key` again, or only one replication of it.

    Only the definition of the cell is used, so the result also verifies the store. Raises InputError if the
    key is unknown or ambiguous, if the version of the models is different, if the cell does not match its
    key, or if the store contains congestion control files that are not trusted.
    """
    stored = find(store, key)
    written = store.manifest["sweep"]["model_version"]
    if written != model_version():
        have = store.manifest["versions"].get("netcarlo", "?")
        raise InputError(
            f"the store was written by model version {written} (netcarlo {have}), this is {model_version()}; "
            "use that version of netcarlo, or run the sweep again with another folder"
        )
    definition = store.manifest["definition"]
    congestion_files.refuse_unless_trusted(definition)
    spec = SweepSpec.check({name: value for name, value in definition.items() if name != "files"})
    sweep = Sweep.from_definition(spec.model_dump(mode="json", exclude_none=True) | definition)
    cell = int(stored["cell"])
    answering = sweep.answering(stored.get("answered_by", "packet"))
    scenario = identity.scenario(answering, cell) if sweep.digest == store.sweep["digest"] else None
    if scenario is None or identity.key(scenario) != stored["key"]:
        raise InputError(
            f"store {store.url}: its digest or the key of cell {cell} does not match its manifest, so it was "
            "altered; get an unaltered copy, or run the sweep again"
        )
    try:
        if replication is None:
            estimated = estimate(scenario, target=target, large=True)
            frame, table = estimated.outcomes.frame, estimated.table
            equal = _same_statistics(sweep, stored, table) if stored["status"] == "ok" else None
        else:
            frame = simulate(scenario, first=replication, replications=1, target=target, large=True).frame
            table = frame.T.set_axis(["value"], axis=1).rename_axis("outcome")
            equal = _same_replication(store, sweep, stored, replication, frame)
    except InputError:
        raise
    except Exception as error:  # the cell fails
        nothing = pd.DataFrame()
        return Rerun(scenario, stored, nothing, nothing, None, f"{type(error).__name__}: {error}")
    return Rerun(scenario, stored, table, frame, equal, "")


def find(store: Store, key: str) -> dict[str, Any]:
    """Return the row of the cell whose key begins with `key`. Raises InputError."""
    found: dict[str, dict[str, Any]] = {}
    for table in store.tables():
        keys = table.column("key").to_numpy(zero_copy_only=False)
        for i in np.flatnonzero(np.char.startswith(keys.astype(str), key)):
            found.setdefault(str(keys[i]), table.slice(int(i), 1).to_pylist()[0])
    if not key or not found:
        remedy = "list the keys with netcarlo query STORE 'SELECT cell, key FROM cells'"
        raise InputError(f"no cell has the key '{key}'; {remedy}")
    if len(found) > 1:
        some = ", ".join(sorted(found)[:3])
        raise InputError(f"{len(found)} cells have keys that begin with '{key}' ({some}); write more digits")
    return next(iter(found.values()))


def _same_statistics(sweep: Sweep, stored: dict[str, Any], table: pd.DataFrame) -> bool:
    names = {"": "mean", "_sd": "sd", "_low": "ci_low", "_high": "ci_high", "_n": "n",
             **{f"_{q}": q for q in ("q05", "q25", "q50", "q75", "q95")}}  # fmt: skip
    return all(
        _equal(stored[outcome + suffix], table.loc[outcome, column])
        for outcome in sweep.outcomes
        if outcome in table.index  # otherwise no network of the cell has this outcome
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
