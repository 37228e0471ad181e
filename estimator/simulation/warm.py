"""Compilation of the models of a file before its runs."""

from collections.abc import Iterable
from typing import Any, NamedTuple

from netcarlo.scenario import Scenario
from netcarlo.simulation.launches import model_of


class Warmed(NamedTuple):
    """Result of `compile_ahead`."""

    models: list[str]
    """Names of all models that the scenarios need."""
    compiled: list[str]
    """Names of the models that were compiled because they were not on disk yet."""


def models_of(scenarios: Iterable[Scenario]) -> list[Any]:
    """Return the kernel models that simulate these scenarios, each once.  Raises InputError."""
    return list(dict.fromkeys(model_of(one) for one in scenarios if one.fidelity != "formula"))


def compile_ahead(models: Iterable[Any]) -> Warmed:
    """Compile models for the CPU that are not on disk yet, several at a time."""
    from netcarlo.kernels.runtime import compile as compilers

    wanted = list(dict.fromkeys(models))
    missing = [model for model in wanted if not compilers.on_disk(model)]
    compilers.prepare(missing)
    for model in missing:
        compilers.cpu_loop(model)  # loads it, or compiles a user's own model, which `prepare` skips
    return Warmed([model.name for model in wanted], [model.name for model in missing])
