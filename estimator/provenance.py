"""What is needed to get a result again: versions, seed, resolved scenario, target."""

import functools
import hashlib
import json
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from netcarlo import kernels
from netcarlo.scenario import Scenario
from netcarlo.transport import Tcp

PACKAGES = ("netcarlo", "networkx", "numpy", "numba", "scipy", "pandas", "pydantic")


SEED_SCHEME = (
    "Philox4x32-10; key: seed; counter: draw, stream of the quantity, replication, topology; "
    "the same for every chunk, worker and target"
)

_HOST = (
    "ensemble.py", "draws.py", "hops.py", "mobility.py", "buffers.py", "outcomes.py", "distributions.py",
    "portable.py", "statistics.py", "dot11.py", "geometry.py", "wireless.py", "wifi_rows.py", "wifi_flows.py",
    "wifi_outcomes.py", "adhoc.py", "adhoc_rows.py", "adhoc_outcomes.py", "parameters.py", "shared.py",
    "shared_rows.py", "shared_outcomes.py", "topologies.py", "bianchi.py", "formulas.py", "steady_state.py",
    "fidelity.py",
    "sweeps/designs.py", "sweeps/space.py", "sweeps/chunk.py",
)  # fmt: skip
_LAUNCHERS = {"compile.py", "cuda.py", "cache.py", "device.py", "launch.py", "hints.py"}


@functools.cache
def model_version() -> str:
    """Identifies what turns a scenario into numbers: a hash of the sources of models and statistics."""
    here = Path(__file__).parent
    models = sorted(f for f in Path(str(kernels.__file__)).parent.rglob("*.py") if f.name not in _LAUNCHERS)
    digest = hashlib.sha256()
    for file in [*models, *(here / name for name in _HOST)]:
        digest.update(file.name.encode() + b"\0" + file.read_bytes() + b"\0")
    return digest.hexdigest()[:16]


def versions() -> dict[str, str]:
    """Versions of Python and of the packages that a result depends on."""
    found = {"python": platform.python_version()}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "not installed"
    return found


def resolved(scenario: Scenario) -> dict[str, Any]:
    """The scenario with every default written out, as data for YAML or JSON that reads back equal."""
    return scenario.model_dump(mode="json", exclude_none=True)


def provenance(scenario: Scenario, *, target: str, replications: int) -> dict[str, Any]:
    """The provenance of an estimate, ready for JSON; `scenario_sha256` identifies what was asked."""
    data = resolved(scenario)
    record = {
        "versions": versions(),
        "machine": platform.machine(),
        "target": target,
        "seed": scenario.seed,
        "replications": replications,
        "scenario": data,
        "scenario_sha256": hashlib.sha256(json.dumps(data, sort_keys=True).encode()).hexdigest(),
    }
    control = scenario.transport.congestion_control if isinstance(scenario.transport, Tcp) else None
    if isinstance(control, Path):
        text = control.read_bytes()
        record["congestion_control_sha256"] = hashlib.sha256(text).hexdigest()
    return record
