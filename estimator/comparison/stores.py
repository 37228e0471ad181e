"""Sides from stores of sweeps of any version. A cell is a point of the axes.

In a sweep with drawn networks, the value at a point is the mean over its networks. Its standard error is
computed from blocks of networks.
"""

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from pydantic import ValidationError

from netcarlo.comparison.side import Side, cells, from_means, from_sd, setting_fields, versions
from netcarlo.errors import InputError
from netcarlo.networks.outcome import SHARE, YES_NO, Outcome
from netcarlo.numerics.arrays import Floats, Ints
from netcarlo.scenario import Scenario
from netcarlo.schema import fields, units
from netcarlo.schema.names import expanded, full_names
from netcarlo.schema.readable import FRACTION
from netcarlo.simulation.outcomes import BY_NAME
from netcarlo.simulation.provenance import resolved
from netcarlo.sweeps.analysis import population
from netcarlo.sweeps.space import congestion_files
from netcarlo.sweeps.store.store import Store


def of_store(label: str, store: Store) -> Side:
    """Return the side of a store. Raises InputError if it has no finished cell, or cells of several
    models."""
    sweep = store.sweep
    if sweep.get("auto"):
        raise InputError(
            f"{label}: fidelity: auto mixes several models; compare stores with fidelity: packet"
        )
    definition = store.manifest["definition"]
    base = _scenario(definition)
    axes = {axis["name"]: axis["unit"] or _unit(base, axis["name"]) for axis in sweep["axes"]}
    drawn, goals = sweep["draw"], sweep["goals"]
    frame = store.frame()
    ok = frame[frame["status"] == "ok"] if len(frame) else frame
    if not len(ok):
        raise InputError(f"{label}: has no finished cells yet; wait for the first chunk")
    at = cells(ok[list(axes)].itertuples(index=False, name=None) if axes else [()] * len(ok))
    quantities = {name: BY_NAME.get(name) or Outcome(name, None, None, "") for name in sweep["outcomes"]}
    for name, text in goals.items():
        quantities[name] = Outcome(name, None, None, text, SHARE if drawn else YES_NO, f"goal {name}")
    side: dict[str, Any] = {
        "label": label,
        "kind": "store",
        "setting": _setting(store, base),
        "axes": axes,
        "quantities": quantities,
        "stream": f"{sweep['seed']} {definition.get('scenario', {}).get('topology', 0)} "
        f"{drawn} {sweep['inputs'] if drawn else ''} {store.manifest['seed_scheme']}",
        "failed": _failed(frame, axes),
        "requested": tuple(quantities),
        "outside": store.outside,
    }
    if drawn:
        return _population(side, ok, at, drawn["size"])
    tables = {name: from_sd(at, ok[f"{name}_n"], ok[name], ok[f"{name}_sd"]) for name in sweep["outcomes"]}
    tables |= {name: from_sd(at, ok["replications"], ok[name], np.nan) for name in goals}
    samples = {}
    if sweep["keep_replications"]:
        kept = store.replications()
        rows = pd.Index(ok["cell"]).get_indexer(pd.Index(kept["cell"]))
        numbers = kept["replication"].to_numpy()
        for name in sweep["outcomes"]:
            samples[name] = _table(at, rows, numbers, kept[name].to_numpy(np.float64), numbers.max() + 1)
    return Side(**side, estimates=tables, samples=samples)


def _population(side: dict[str, Any], ok: pd.DataFrame, at: "pd.Index[Any]", size: int) -> Side:
    """Return the side of a sweep with drawn networks. The values are the means over the replications of
    each."""
    rows, points = pd.factorize(at)
    points, draws = cells(points), ok["draw"].to_numpy()
    samples = {
        name: _table(points, rows, draws, ok[name].to_numpy(np.float64), size) for name in side["quantities"]
    }
    blocks = np.zeros(size, np.int64)
    blocks[draws] = ok["block"].to_numpy()
    tables = {name: from_networks(values, blocks) for name, values in samples.items()}
    return Side(**side, estimates=tables, samples=samples, blocks=blocks)


def from_networks(values: pd.DataFrame, blocks: Ints) -> pd.DataFrame:
    """Return the means over drawn networks of values [cells, networks], with standard errors from blocks."""
    each = values.to_numpy()
    found = [population.mean(row, blocks) for row in each]
    df = [len(np.unique(blocks[~np.isnan(row)])) - 1 for row in each]
    return from_means(values.index, found, df)


def _table(at: "pd.Index[Any]", rows: Ints, columns: Ints, values: Floats, width: int) -> pd.DataFrame:
    table = np.full((len(at), width), np.nan)
    known = rows >= 0
    table[rows[known], columns[known]] = values[known]
    return pd.DataFrame(table, index=at)


def _failed(frame: pd.DataFrame, axes: Mapping[str, str]) -> frozenset[tuple[Any, ...]]:
    bad = frame[frame["status"] == "failed"]
    names = [*(["draw"] if "draw" in frame else []), *axes]
    return frozenset(bad[names].itertuples(index=False, name=None) if names else [()] * len(bad))


def _setting(store: Store, base: Any) -> dict[str, str]:
    manifest, sweep = store.manifest, store.sweep
    definition, draw = manifest["definition"], sweep["draw"]
    setting = versions(manifest["versions"], sweep["model_version"])
    setting |= {"seed": str(sweep["seed"]), "replications": str(sweep["replications"])}
    setting["precision"] = "" if sweep["precision"] is None else str(sweep["precision"])
    setting["draw"] = f"{draw['count']} {draw['method']}, {draw['blocks']} blocks" if draw else ""
    for axis in sweep["axes"]:
        values = (f"{v:.12g}" if isinstance(v, float) else v for v in axis["values"])
        setting[f"axis {axis['name']}"] = f"{', '.join(values)} {axis['unit']}".strip()
    setting |= {f"derive {name}": str(text) for name, text in definition.get("derive", {}).items()}
    setting |= {f"goal {name}": text for name, text in sweep["goals"].items()}
    files = {
        path: f"{Path(path).name} ({hashlib.sha256(text.encode()).hexdigest()[:12]})"
        for path, text in congestion_files.texts(definition).items()
    }
    for name, text in setting_fields(resolved(base) if isinstance(base, Scenario) else base).items():
        setting.setdefault(name, files.get(text, text))
    return setting


def _scenario(definition: Mapping[str, Any]) -> Any:
    """Return the base scenario with its defaults, or its data as written if this version does not accept
    it."""
    data = expanded(dict(definition.get("scenario", {})))
    try:
        return Scenario.check(data)
    except (InputError, ValidationError):
        return data


def _unit(base: Any, axis: str) -> str:
    """Return `FRACTION` if an axis is a fraction, else an empty string."""
    try:
        found = fields.quantity(base, full_names(base.model_dump(), axis)[0])
    except (InputError, AttributeError):
        return ""
    return FRACTION if found is not None and found.dimension is units.FRACTION else ""
