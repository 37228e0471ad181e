"""Manifests and chunk tables like those of a sweep, without simulation and for any cells.

Each number is a hash of its cell and column, shaped so that figures look plausible: goodput decreases with
loss and grows with the first drawn input, on which also depends which protocol wins. So any split of the
cells into chunks gives the same rows.
"""

import hashlib
import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from scipy.special import ndtri

PROTOCOLS = ("newreno", "sack", "vegas", "cubic", "bic")
LOSS = (0.0, 0.001, 0.01, 0.03)
OUTCOMES = ("goodput_bps", "timeouts", "mean_rtt_s", "completion_s")
GOALS = {"goal_fast": "goodput_bps > 1 Mbit/s"}
INPUTS = ("paths.0.hops.0.rate", "paths.0.hops.0.delay", "paths.0.hops.1.queue")
STATISTICS = ("", "_sd", "_low", "_high", "_n", "_q05", "_q25", "_q50", "_q75", "_q95")

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


def axis(
    name: str, values: Sequence[str] | Sequence[float], *, unit: str = "", log: bool = False
) -> dict[str, Any]:
    """Return an axis as in the manifest."""
    numeric = not isinstance(values[0], str)
    return {"name": name, "unit": unit, "numeric": numeric, "values": list(values), "log": log}


def manifest(
    *,
    axes: Sequence[Mapping[str, Any]] | None = None,
    compare: str | None = "protocol",
    draw: int = 0,
    blocks: int = 4,
    method: str = "sobol",
    inputs: Sequence[str] = INPUTS,
    derived: Sequence[str] = (),
    outcomes: Sequence[str] = OUTCOMES,
    goals: Mapping[str, str] = GOALS,
    replications: int = 20,
    name: str = "example",
    model_version: str = "0123456789abcdef",
    seed: int = 1,
    keep_replications: bool = False,
) -> dict[str, Any]:
    """Return a manifest, by default of loss x protocol, with `draw` topologies (Saltelli: base points) if
    not 0."""
    if axes is None:
        axes = [axis("paths.0.loss", LOSS), axis("protocol", PROTOCOLS)]
    sizes = {one["name"]: len(one["values"]) for one in axes}
    size = draw * (len(inputs) + 2 if method == "saltelli" else 1)
    definition = {
        "name": name,
        "axes": [dict(one) for one in axes],
        "compare": compare,
        "draw": draw,
        "seed": seed,
        "replications": replications,
        "outcomes": list(outcomes),
    }
    return {
        "format": 1,
        "sweep": {
            "name": name,
            "description": "Made up for tests.",
            "digest": hashlib.sha256(f"{definition} {model_version}".encode()).hexdigest()[:32],
            "model_version": model_version,
            "n_cells": math.prod(sizes.values()) * max(size, 1),
            "group": sizes[compare] if compare else 1,
            "axes": [dict(one) for one in axes],
            "compare": compare,
            "draw": {"count": draw, "method": method, "blocks": blocks, "size": size} if draw else None,
            "inputs": list(inputs) if draw else [],
            "derived": list(derived),
            "outcomes": list(outcomes),
            "goals": dict(goals),
            "replications": replications,
            "precision": None,
            "seed": seed,
            "keep_replications": keep_replications,
        },
        "definition": definition,
        "source": f"name: {name}\n",
        "versions": {"python": "3.11.2", "netcarlo": "0.2.0"},
        "seed_scheme": "Philox4x32-10 keyed by (seed, draw, replication, stream)",
    }


def uniform(index: Ints, column: str) -> Floats:
    """Return a number in (0, 1) for each index, different for each column (splitmix64)."""
    salt = int.from_bytes(hashlib.sha256(column.encode()).digest()[:8], "little")
    x = index.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(salt)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        x = (x ^ (x >> np.uint64(shift))) * np.uint64(factor)
    return ((x ^ (x >> np.uint64(31))) >> np.uint64(12)).astype(np.float64) / 2.0**52 + 2.0**-54


def positions(manifest: Mapping[str, Any], cells: Ints) -> dict[str, Ints]:
    """Return the position of each cell on each axis, and `draw`; the compared axis varies fastest."""
    sweep = manifest["sweep"]
    fastest_first = list(reversed(sweep["axes"]))
    fastest_first.sort(key=lambda one: one["name"] != sweep["compare"])
    places, rest = {}, cells
    for one in fastest_first:
        rest, places[one["name"]] = np.divmod(rest, len(one["values"]))
    return places | {"draw": rest}


def table(manifest: Mapping[str, Any], cells: Iterable[int], *, failed: Collection[int] = ()) -> pa.Table:
    """Return the table of a chunk: a row per cell of `cells` (ascending); those in `failed` did not
    finish."""
    sweep = manifest["sweep"]
    cell = np.array(list(cells), dtype=np.int64)
    bad = np.isin(cell, list(failed))
    places = positions(manifest, cell)
    draw = places["draw"]
    columns: dict[str, Any] = {
        "cell": cell,
        "key": [hashlib.sha256(f"{sweep['digest']} {i}".encode()).hexdigest()[:32] for i in cell],
        "status": np.where(bad, "failed", "ok"),
        "error": np.where(bad, "FloatingPointError: made up, for tests", ""),
    }
    if sweep["draw"]:
        columns |= {"draw": draw, "block": draw * sweep["draw"]["blocks"] // sweep["draw"]["size"]}
    for one in sweep["axes"]:
        columns[one["name"]] = np.array(one["values"])[places[one["name"]]]
        if one["numeric"]:
            columns[one["name"]] = columns[one["name"]].astype(np.float64)
    for name in (*sweep["inputs"], *sweep["derived"]):
        columns[name] = uniform(draw, name) * 10.0
    n_hops = 1 + (draw % 4)
    large = uniform(draw, (*sweep["inputs"], "rate")[0])
    rate, rtt = 1e6 * 10 ** (2 * large), 0.02 + 0.2 * uniform(draw, "rtt")
    loss = np.prod([1 - columns[one["name"]] for one in sweep["axes"] if "loss" in one["name"]], axis=0)
    columns |= {
        "n_hops": n_hops,
        "bottleneck_bps": rate,
        "base_rtt_s": rtt,
        "path_loss": np.broadcast_to(1 - loss, cell.shape).astype(np.float64),
        "bdp_packets": rate * rtt / 12000.0,
        "seed": np.full(len(cell), sweep["seed"], dtype=np.int64),
        "replications": np.where(bad, 0, sweep["replications"]).astype(np.int64),
    }
    place = places.get(sweep["compare"], np.zeros(len(cell), dtype=np.int64))
    better = 1 + 0.2 * place * (large - 0.4)
    for outcome in sweep["outcomes"]:
        baseline = (
            _size(outcome, rate) / (1 + 100 * columns["path_loss"]) * (0.9 + 0.2 * uniform(draw, outcome))
        )
        columns |= _statistics(sweep, outcome, baseline * better, cell, bad)
    for goal in sweep["goals"]:
        p = uniform(draw, goal)
        for suffix, value in (("", p), ("_low", p * 0.9), ("_high", p * 0.9 + 0.1)):
            columns[goal + suffix] = np.where(bad, np.nan, value)
    if sweep["compare"]:
        for outcome in sweep["outcomes"]:
            mean = columns[outcome]
            gain, half = mean * (1 - 1 / better), 0.02 * mean
            for suffix, value in (("_gain", gain), ("_gain_low", gain - half), ("_gain_high", gain + half)):
                columns[outcome + suffix] = np.where(bad | (place == 0), np.nan, value)
    return pa.table(columns, schema=schema(manifest))


def _size(outcome: str, rate: Floats) -> Floats:
    """Return the size of an outcome when nothing is lost."""
    return rate if outcome.endswith("_bps") else 1e6 / rate if outcome.endswith("_s") else rate / 1e5


def _statistics(
    sweep: Mapping[str, Any], outcome: str, mean: Floats, cell: Ints, bad: NDArray[np.bool_]
) -> dict[str, Any]:
    sd = mean * 0.2 * (0.5 + uniform(cell, outcome + "_sd"))
    half = 1.96 * sd / math.sqrt(sweep["replications"])
    found = {"": mean, "_sd": sd, "_low": mean - half, "_high": mean + half}
    for percent in (5, 25, 50, 75, 95):
        found[f"_q{percent:02}"] = mean + ndtri(percent / 100) * sd
    found = {suffix: np.where(bad, np.nan, value) for suffix, value in found.items()}
    found["_n"] = np.where(bad, 0, sweep["replications"]).astype(np.int64)
    return {outcome + suffix: found[suffix] for suffix in STATISTICS}


def schema(manifest: Mapping[str, Any]) -> pa.Schema:
    """Return names and types of the columns of `table`, in order."""
    sweep = manifest["sweep"]
    fields = [("cell", pa.int64()), ("key", pa.string()), ("status", pa.string()), ("error", pa.string())]
    if sweep["draw"]:
        fields += [("draw", pa.int64()), ("block", pa.int64())]
    fields += [(one["name"], pa.float64() if one["numeric"] else pa.string()) for one in sweep["axes"]]
    fields += [(name, pa.float64()) for name in (*sweep["inputs"], *sweep["derived"])]
    fields += [("n_hops", pa.int64())]
    fields += [(name, pa.float64()) for name in ("bottleneck_bps", "base_rtt_s", "path_loss", "bdp_packets")]
    fields += [("seed", pa.int64()), ("replications", pa.int64())]
    for outcome in sweep["outcomes"]:
        fields += [
            (outcome + suffix, pa.int64() if suffix == "_n" else pa.float64()) for suffix in STATISTICS
        ]
    fields += [(goal + suffix, pa.float64()) for goal in sweep["goals"] for suffix in ("", "_low", "_high")]
    if sweep["compare"]:
        gains = ("_gain", "_gain_low", "_gain_high")
        fields += [(outcome + suffix, pa.float64()) for outcome in sweep["outcomes"] for suffix in gains]
    return pa.schema(fields)


def replications(manifest: Mapping[str, Any], cells: Iterable[int]) -> pa.Table:
    """Return the second table of a chunk: a row per replication, with the sweep's outcomes only."""
    sweep = manifest["sweep"]
    cell = np.repeat(np.array(list(cells), dtype=np.int64), sweep["replications"])
    number = np.arange(len(cell), dtype=np.int64) % sweep["replications"]
    columns = {"cell": cell, "replication": number}
    columns |= {name: 1e6 * uniform(cell * 1_000_003 + number, name) for name in sweep["outcomes"]}
    return pa.table(columns)
