"""Targets of simulations: the CPU or a CUDA device."""

from netcarlo.errors import InputError

TARGETS = ("auto", "cpu", "cuda")


def resolve_target(target: str) -> str:
    """Return `cpu` or `cuda`; `auto` becomes cuda if a device is available. Raises InputError."""
    if target not in TARGETS:
        raise InputError(f"target = '{target}' is unknown; expected {', '.join(TARGETS)}")
    if target == "cpu":
        return target
    from netcarlo.kernels.runtime import device, modules

    if device.devices():
        return "cuda"
    if target == "cuda":
        raise InputError(f"target = 'cuda' needs a CUDA device: {modules.obstacle() or 'there is none'}")
    return "cpu"
