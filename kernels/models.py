"""The models by name: which transport one thread simulates."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from netcarlo.kernels import aimd, newreno, reno, sack, tahoe, tcp, vegas
from netcarlo.kernels.layout import Rows

VARIANTS = {"tahoe": tahoe, "reno": reno, "newreno": newreno, "sack": sack, "vegas": vegas}


@dataclass(frozen=True)
class Model:
    """A simulation of one row, to be compiled for a target.

    `make(dev, trace)` returns `flow(parameters, constants, hops, outages, losses, scratch, memory,
    out, trace) -> int`, compiled by `dev`; the arguments are one row's views of `Rows`, int64
    scratch and float64 memory of the sizes that `scratch(rows)` tells, int64[len(Out)] and
    float64[T, len(Trace)].  It returns the number of trace rows (0 when not tracing).
    """

    name: str
    make: Callable[[Callable[[Any], Any], bool], Any]
    scratch: Callable[[Rows], tuple[int, int]]


def _tcp(name: str, variant: Any, control: Any) -> Model:
    def make(dev: Callable[[Any], Any], trace: bool) -> Any:
        return tcp.make(dev, variant.make, control, trace)

    return Model(name, make, tcp.scratch_words)


MODELS = {f"tcp_{name}": _tcp(f"tcp_{name}", variant, aimd) for name, variant in VARIANTS.items()}
NAMES = tuple(MODELS)


def model(name: str) -> Model:
    """The built-in model of this name; KeyError if there is none."""
    return MODELS[name]
