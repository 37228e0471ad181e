"""The models by name: which transport one thread simulates."""

import functools
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from netcarlo.kernels import aimd, bic, cubic, newreno, reno, sack, sctp, sctp_state, tahoe, tcp, user, vegas
from netcarlo.kernels.layout import Rows

VARIANTS = {"tahoe": tahoe, "reno": reno, "newreno": newreno, "sack": sack, "vegas": vegas}

CONTROLS = {"bic": bic, "cubic": cubic}
"""Congestion controls, besides the standard one, for every variant but vegas."""


@dataclass(frozen=True)
class Model:
    """A simulation of one row, to be compiled for a target.

    `make(dev)` returns `flow(parameters, constants, hops, outages, losses, scratch, memory,
    out, trace) -> int`, compiled by `dev`; the arguments are one row's views of `Rows`, int64
    scratch and float64 memory of the sizes that `scratch(rows)` tells, int64[len(Out)] and
    float64[T, len(Trace)], without rows when there is nothing to trace.  It returns the number of
    trace rows.
    """

    name: str
    make: Callable[[Callable[[Any], Any]], Any]
    scratch: Callable[[Rows], tuple[int, int]]


MOBILE = "_mobile"
"""Ends the name of a model whose receiver is a mobile host."""


def _tcp(name: str, variant: Any, control: Any) -> Model:
    mobile = name.endswith(MOBILE)

    def make(dev: Callable[[Any], Any]) -> Any:
        return tcp.make(dev, variant.make, control, mobile=mobile)

    return Model(name, make, tcp.scratch_words)


MODELS = {
    name: _tcp(name, variant, aimd)
    for host in ("", MOBILE)
    for name, variant in ((f"tcp_{variant}{host}", module) for variant, module in VARIANTS.items())
}
MODELS["sctp"] = Model("sctp", sctp.make, sctp_state.scratch)
MODELS |= {
    name: _tcp(name, VARIANTS[variant], module)
    for control, module in CONTROLS.items()
    for variant in VARIANTS
    if variant != "vegas"
    for name in (f"tcp_{variant}_{control}", f"tcp_{variant}_{control}{MOBILE}")
}
NAMES = tuple(
    name
    for name in MODELS
    if not name.removesuffix(MOBILE).endswith(tuple(CONTROLS)) or name in ("tcp_sack_bic", "tcp_sack_cubic")
)
"""Those that tests compile for every target: of the variants with another congestion control, one each."""


def model(name: str) -> Model:
    """The built-in model of this name, one of `MODELS`."""
    return MODELS[name]


def user_model(path: Path, *, protocol: str, mobile: bool = False) -> Model:
    """TCP with the loss recovery of `protocol` (tahoe, reno, newreno, sack) and the congestion control
    of a user's file, see `user`; to a `mobile` host or a fixed one.

    Raises ValueError, or what the file itself raises, when it cannot serve.
    """
    return _user_model(path, protocol, mobile, path.read_bytes())


@functools.cache
def _user_model(path: Path, protocol: str, mobile: bool, _content: bytes) -> Model:
    name = f"user_{path.stem}_{protocol}{MOBILE if mobile else ''}"
    return _tcp(name, VARIANTS[protocol], user.load(path))
