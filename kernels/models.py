"""The models by name: which transport one thread simulates."""

import functools
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from netcarlo.kernels.adhoc import engine as manet
from netcarlo.kernels.base.layout import Out
from netcarlo.kernels.congestion import aimd, bic, cubic, linux_reno, linux_westwood, user, westwood
from netcarlo.kernels.fluid import path as fluid_path
from netcarlo.kernels.fluid import shared as fluid
from netcarlo.kernels.path import engine as tcp
from netcarlo.kernels.sctp import engine as sctp
from netcarlo.kernels.sctp import state as sctp_state
from netcarlo.kernels.shared import engine as shared
from netcarlo.kernels.shared.layout import KINDS
from netcarlo.kernels.tcp import elfn, eln, linux, new_probing, newreno, probing, reno, sack, tahoe, vegas
from netcarlo.kernels.tcp.mixture import PARTS, make_mixture
from netcarlo.kernels.tcp.sender import one_kind
from netcarlo.kernels.wireless import engine

VARIANTS = {"tahoe": tahoe, "reno": reno, "newreno": newreno, "sack": sack, "vegas": vegas}

ADHOC = {"probing": probing, "new_probing": new_probing, "elfn": elfn, "eln": eln}
"""Variants that need what the ad hoc engine alone tells them: replies to probes, broken links, errors."""

CONTROLS = {"bic": bic, "cubic": cubic, "westwood": westwood}
"""Congestion controls, besides the standard one, for every variant but vegas."""

LINUX = {"linux": linux_reno, "linux_bic": bic, "linux_cubic": cubic, "linux_westwood": linux_westwood}
"""The Linux-like sender with its controls; of the path engine only."""


@dataclass(frozen=True)
class Model:
    """A simulation of one row, to be compiled for a target.

    `make(dev)` returns `flow(parameters, constants, hops, outages, losses, scratch, memory,
    out, trace) -> int`, compiled by `dev`; the arguments are one row's views of `Rows`, int64
    scratch and float64 memory of the sizes that `scratch(rows)` tells, int64 of the length that
    `outcomes(rows)` tells and float64[T, len(Trace)], without rows when there is nothing to trace.
    It returns the number of trace rows.  Models of the 802.11 engine read `WifiRows` instead.
    """

    name: str
    make: Callable[[Callable[[Any], Any]], Any]
    scratch: Callable[[Any], tuple[int, int]]
    outcomes: Callable[[Any], int] = lambda rows: len(Out)
    dimensions: tuple[int, ...] = (2, 2, 4, 5, 2)
    """Of the five arrays of the rows."""
    file: Path | None = None
    """The user's own, which compilers may refuse."""


MOBILE = "_mobile"
"""Ends the name of a model whose receiver is a mobile host."""


def _tcp(name: str, variant: Any, control: Any) -> Model:
    mobile = name.endswith(MOBILE)

    def make(dev: Callable[[Any], Any]) -> Any:
        return tcp.make(dev, variant.make, control, mobile=mobile)

    return Model(name, make, linux.scratch_words if variant is linux else tcp.scratch_words)


WIFI = "wifi_"
"""Begins the name of a model of the 802.11 engine."""


def _wifi(name: str, variant: Any = None, control: Any = None) -> Model:
    make_variant = variant.make if variant else None

    def make(dev: Callable[[Any], Any]) -> Any:
        return engine.make(dev, make_variant, control)

    def scratch(rows: Any) -> tuple[int, int]:
        return engine.scratch_words(rows, tcp=variant is not None)

    return Model(name, make, scratch, engine.outcomes, (2, 2, 3, 2, 2))


MANET = "manet_"
"""Begins the name of a model of the ad hoc engine."""


def _manet(name: str, variant: Any, control: Any = aimd) -> Model:
    def make(dev: Callable[[Any], Any]) -> Any:
        return manet.make(dev, variant.make, control)

    return Model(name, make, manet.scratch_words, manet.outcomes, (2, 2, 3, 4, 2))


SHARED = "shared_"
"""Begins the name of a model of the shared engine."""


def _shared(name: str, variant: Any = None, control: Any = aimd) -> Model:
    def kinds(dev: Callable[[Any], Any]) -> Any:
        return one_kind(dev, variant.make, control) if variant else make_mixture(dev)

    def make(dev: Callable[[Any], Any]) -> Any:
        return shared.make(dev, kinds)

    return Model(name, make, shared.scratch_words, shared.outcomes, (2, 2, 3, 3, 2))


def _fluid_path(kind: int) -> Model:
    def make(dev: Callable[[Any], Any]) -> Any:
        return fluid_path.make(dev, kind)

    return Model(f"fluid_{KINDS[kind]}", make, fluid_path.scratch_words)


MODELS = {
    name: _tcp(name, variant, aimd)
    for host in ("", MOBILE)
    for name, variant in ((f"tcp_{variant}{host}", module) for variant, module in VARIANTS.items())
}
for _name, _module in LINUX.items():
    for _host in ("", MOBILE):
        MODELS[f"tcp_{_name}{_host}"] = _tcp(f"tcp_{_name}{_host}", linux, _module)
MODELS["sctp"] = Model("sctp", sctp.make, sctp_state.scratch)
MODELS["wifi_udp"] = _wifi("wifi_udp")
for _variant, _module in VARIANTS.items():
    MODELS[WIFI + _variant] = _wifi(WIFI + _variant, _module, aimd)
for _variant, _module in {**VARIANTS, **ADHOC}.items():
    MODELS[MANET + _variant] = _manet(MANET + _variant, _module)
for _control, _module in CONTROLS.items():
    for _variant in ("tahoe", "reno", "newreno", "sack"):
        for _name in (f"tcp_{_variant}_{_control}", f"tcp_{_variant}_{_control}{MOBILE}"):
            MODELS[_name] = _tcp(_name, VARIANTS[_variant], _module)
        _name = f"{WIFI}{_variant}_{_control}"
        MODELS[_name] = _wifi(_name, VARIANTS[_variant], _module)
    for _variant, _transport in {**VARIANTS, **ADHOC}.items():
        _name = f"{MANET}{_variant}_{_control}"
        if _variant != "vegas":
            MODELS[_name] = _manet(_name, _transport, _module)
for _number, _parts in PARTS.items():
    MODELS[SHARED + KINDS[_number]] = _shared(SHARED + KINDS[_number], *_parts)
MODELS["shared_mixed"] = _shared("shared_mixed")
for _number in PARTS:
    MODELS[f"fluid_{KINDS[_number]}"] = _fluid_path(_number)
MODELS["fluid"] = Model("fluid", fluid.make, fluid.scratch_words, fluid.outcomes, (2, 2, 3, 3, 2))
NAMES = (
    *(f"tcp_{variant}{host}" for host in ("", MOBILE) for variant in VARIANTS),
    *("sctp", "tcp_sack_bic", "tcp_sack_cubic", "tcp_sack_westwood", "tcp_linux_westwood"),
    *("wifi_udp", "wifi_sack", "manet_newreno", "shared_mixed", "fluid", "fluid_newreno"),
)
"""Those that tests compile for every target: of each engine with another congestion control, a few."""


def model(name: str) -> Model:
    """The built-in model of this name, one of `MODELS`."""
    return MODELS[name]


def user_model(
    path: Path, content: bytes, *, protocol: str, mobile: bool = False, network: str = ""
) -> Model:
    """TCP with the loss recovery of `protocol` (tahoe, reno, newreno, sack, in MANET those of ADHOC) and the
    congestion control of a user's file with this content, see `user`; to a `mobile` host or a fixed one, or
    in a `network`: WIFI, MANET or SHARED.

    Raises ValueError, or what the file itself raises, when it cannot serve.
    """
    return _user_model(path, protocol, mobile, network, content)


@functools.cache
def _user_model(path: Path, protocol: str, mobile: bool, network: str, content: bytes) -> Model:
    name = f"{network}user_{path.stem}_{protocol}{MOBILE if mobile else ''}"
    make = {"": _tcp, WIFI: _wifi, MANET: _manet, SHARED: _shared}[network]
    found = make(name, {**VARIANTS, **ADHOC, "linux": linux}[protocol], user.load(path, content))
    return replace(found, file=path)
