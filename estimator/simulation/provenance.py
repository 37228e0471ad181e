"""Provenance of a result: versions, seed, resolved scenario and target, so that it can be reproduced."""

import functools
import hashlib
import json
import platform
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from netcarlo.scenario import Scenario
from netcarlo.simulation import sources

PACKAGES = ("netcarlo", "networkx", "numpy", "numba", "scipy", "pandas", "pydantic")

SEED_SCHEME = (
    "Philox4x32-10; key: seed; counter: draw, stream of the quantity, replication, topology; "
    "the same for every chunk, worker and target"
)


@functools.cache
def model_version() -> str:
    """Return a hash of the source code that decides results (see `sources`): 16 hexadecimal digits."""
    return sources.fingerprint()


def versions() -> dict[str, str]:
    """Return the versions of Python and of the packages that a result depends on."""
    found = {"python": platform.python_version()}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "not installed"
    return found


def resolved(scenario: Scenario) -> dict[str, Any]:
    """Return the scenario with all defaults as data for YAML or JSON, which reads back equal."""
    return scenario.model_dump(mode="json", exclude_none=True)


def provenance(scenario: Scenario, *, target: str, replications: int) -> dict[str, Any]:
    """Return the provenance of an estimate as data for JSON; `scenario_sha256` identifies the scenario."""
    data = resolved(scenario)
    record = {
        "versions": versions(),
        "model_version": model_version(),
        "machine": platform.machine(),
        "target": target,
        "seed": scenario.seed,
        "replications": replications,
        "scenario": data,
        "scenario_sha256": hashlib.sha256(json.dumps(data, sort_keys=True).encode()).hexdigest(),
    }
    if (control := scenario.transport.own_control) is not None:
        text = control.read_bytes()
        record["congestion_control_sha256"] = hashlib.sha256(text).hexdigest()
    return record
