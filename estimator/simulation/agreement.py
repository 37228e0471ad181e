"""Comparison of a GPU with the CPU: examples of every engine, simulated on both."""

import importlib.resources
import time
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from netcarlo.scenario import Scenario, load_scenario
from netcarlo.simulation.launches import Job, model_of, prepare

ROWS = 300
"""Number of replications of each example, each a random network."""

_RATE = {"log_uniform": ["200 kbit/s", "2 Mbit/s"]}
_DELAY = {"uniform": ["5 ms", "200 ms"]}
_DISJOINT = {
    f"paths.{path}.hops.0.{name}": value
    for path in (0, 1)
    for name, value in {"rate": _RATE, "delay": _DELAY, "loss": {"uniform": ["0 %", "3 %"]}}.items()
}
_SHORT = {"duration": "12 s", "warm_up": "2 s"}

EXAMPLES: dict[str, tuple[str, dict[str, Any]]] = {
    "path": ("examples/random_topology.yaml", {"duration": "10 s"}),
    "path, mobile host": ("examples/handover.yaml", {"duration": "60 s"}),
    "multihomed": ("studies/sctp_linkdown/sctp_multi.yaml", _DISJOINT),
    "shared links": ("examples/random_dumbbells.yaml", _SHORT),
    "802.11": ("examples/wifi_cells.yaml", {"duration": "1 s", "warm_up": "200 ms"}),
    "ad hoc": ("examples/adhoc.yaml", {"transport.bytes": "100 kB"}),
    "fluid": ("examples/random_topology.yaml", {"fidelity": "fluid", "duration": "10 s"}),
    "fluid, 802.11": ("examples/wifi_cells.yaml", {"fidelity": "fluid"}),
    "fluid, ad hoc": ("examples/adhoc.yaml", {"fidelity": "fluid"}),
    "fluid, shared links": ("examples/random_dumbbells.yaml", {"fidelity": "fluid", **_SHORT}),
}
"""Shipped scenario and the fields to set in it, by engine."""


class Agreement(NamedTuple):
    """Result of an example on the device, compared with the CPU."""

    engine: str
    model: str
    ready_s: float
    """Time until the kernel was compiled (unless cached) and loaded [s]."""
    launch_s: float
    """Time of the launch, including memory transfers [s]."""
    rows: int
    equal: int
    """Number of rows in which every outcome equals that of the CPU."""
    difference: str
    """Location of the first difference, or the failure; empty if there is none."""


def agreements() -> Iterator[Agreement]:
    """Simulate each example on the CPU and on CuPy's current device; ends after a device failure.

    Raises ModuleNotFoundError if models cannot be compiled for the device.
    """
    scenarios = {engine: _scenario(*example) for engine, example in EXAMPLES.items()}
    prepare(scenarios.values(), target="cpu")
    for engine, scenario in scenarios.items():
        found = _compared(engine, scenario)
        yield found
        if found.difference and not found.launch_s:  # device failure: further launches would fail
            return


def _scenario(file: str, values: dict[str, Any]) -> Scenario:
    files = importlib.resources.files("netcarlo.configs")
    with importlib.resources.as_file(files / file) as path:
        return load_scenario(path, values=values)


def _compared(engine: str, scenario: Scenario) -> Agreement:
    from netcarlo.kernels.runtime import launch, modules
    from netcarlo.kernels.runtime.threads import interruptible

    model, rows = model_of(scenario), Job(scenario, 0, ROWS).part().rows
    expected = launch.run(model, rows)
    ready_s = 0.0
    start = time.perf_counter()
    try:
        interruptible(lambda: modules.kernel(model))
        ready_s, start = time.perf_counter() - start, time.perf_counter()
        out = launch.run(model, rows, target="cuda")
    except ModuleNotFoundError:
        raise
    except Exception as error:  # any error of the driver
        words = " ".join(str(error).split())
        return Agreement(engine, model.name, ready_s, 0.0, ROWS, 0, f"failed: {words}")
    launch_s = time.perf_counter() - start
    differs = out != expected
    equal = int((~differs.any(axis=1)).sum())
    difference = ""
    if equal < ROWS:
        row, column = np.argwhere(differs)[0]
        values = f"{expected[row, column]} on the CPU, {out[row, column]} on the device"
        difference = f"first in row {row}, outcome {column}: {values}"
    return Agreement(engine, model.name, ready_s, launch_s, ROWS, equal, difference)
