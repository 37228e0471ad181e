"""Targets of simulations: the CPU or a CUDA device."""

import warnings
from collections.abc import Iterable
from typing import TYPE_CHECKING

from netcarlo.errors import InputError
from netcarlo.schema.notes import Note

if TYPE_CHECKING:
    from netcarlo.scenario import Scenario

TARGETS = ("auto", "cpu", "cuda")


def resolve_target(
    target: str,
    work: Iterable[tuple["Scenario", float]] = (),
    *,
    threads: int | None = None,
    launches: float = 1,
) -> str:
    """Return `cpu` or `cuda`. Raises InputError.

    `auto` becomes cuda if a device is available, and simulates `work` (scenarios and their numbers of
    replications), if given, sooner than `threads` of the CPU (default: one per core), in `launches` that wait
    for each other. A note then states the choice.
    """
    if target not in TARGETS:
        raise InputError(f"target = '{target}' is unknown; expected {', '.join(TARGETS)}")
    if target == "cpu":
        return target
    from netcarlo.kernels.runtime import device, modules

    if not device.devices():
        if target == "cuda":
            raise InputError(f"target = 'cuda' needs a CUDA device: {modules.obstacle() or 'there is none'}")
        return "cpu"
    work = [*work]
    if target == "cuda" or not work:
        return "cuda"
    from netcarlo.kernels.runtime.threads import cores
    from netcarlo.simulation import target_choice

    found = target_choice.forecast(work, threads or cores(), launches=launches)
    warnings.warn(found.reason, Note, stacklevel=2)
    return found.target
