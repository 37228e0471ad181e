"""Models by name and by address, built on request."""

import functools
from collections.abc import Iterator, MutableMapping, ValuesView
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from types import ModuleType

from netcarlo.kernels import senders, space
from netcarlo.kernels.base.address import Address
from netcarlo.kernels.base.endpoint import Endpoint
from netcarlo.kernels.base.model import Model as Model


class _Values(ValuesView[Model]):
    """View of the built-in models; `in` builds only the model of the same name."""

    def __contains__(self, model: object) -> bool:
        name = getattr(model, "name", None)
        return isinstance(name, str) and name in MODELS and MODELS[name] is model


class _Models(MutableMapping[str, Model]):
    """Built-in models by name, each built on first access; tests may add others."""

    def __init__(self) -> None:
        self._added: dict[str, Model] = {}

    def __getitem__(self, name: str) -> Model:
        return self._added[name] if name in self._added else at(space.named(name))

    def __setitem__(self, name: str, model: Model) -> None:
        self._added[name] = model

    def __delitem__(self, name: str) -> None:
        del self._added[name]

    def __contains__(self, name: object) -> bool:
        return name in self._added or (isinstance(name, str) and space.has(name))

    def values(self) -> ValuesView[Model]:
        """Return the models."""
        return _Values(self)

    def __iter__(self) -> Iterator[str]:
        return iter({**space.by_name(), **self._added})

    def __len__(self) -> int:
        return len({**space.by_name(), **self._added})


MODELS = _Models()
"""All models by name."""

_OF_NS2 = "tahoe", "reno", "newreno", "sack", "vegas"
NAMES = (
    *(f"tcp_{sender}{host}" for host in ("", "_mobile") for sender in _OF_NS2),
    *("sctp", "sctp_mobile", "tcp_sack_bic", "tcp_sack_cubic", "tcp_sack_westwood", "tcp_linux26_westwood"),
    *("tcp_linux_reno", "tcp_linux_cubic", "tcp_linux_bbr", "tcp_linux_bbr3"),
    *("tcp_linux_cubic_messages", "tcp_linux_cubic_tuned", "tcp_newreno_delays"),
    *("wifi_udp", "wifi_sack", "wifi_sctp", "manet_newreno", "manet_sctp", "shared_mixed", "shared_sctp"),
    *("wifi_linux_bbr", "manet_linux_bbr", "shared_linux_bbr", "wifi_mixed", "wifi_sack_varying_delays"),
    "manet_newreno_delays",
    *("shared_newreno_aqm", "shared_newreno_varying", "shared_newreno_delays", "shared_mixed_arrivals"),
    *("fluid", "fluid_newreno", "fluid_sctp", "fluid_newreno_mobile", "fluid_sctp_mobile", "fluid_wifi"),
    "fluid_manet_newreno",
)
"""Names of the models that tests compile for every target: a few of each engine."""


def model(name: str) -> Model:
    """Return the built-in model of this name, one of `MODELS`."""
    return MODELS[name]


def at(address: Address) -> Model:
    """Return the built-in model of an address.  Raises KeyError if there is none."""
    if reason := space.why_not(address):
        raise KeyError(f"there is no model {address.name}: {reason}")
    return _built(address, None, b"")


def user_model(path: Path, content: bytes, address: Address) -> Model:
    """Return a model with the congestion control of a user's file with this content, see `congestion.user`.

    `address.sender` is its loss recovery. `address.control` is ignored except for `mixed`. Raises ValueError,
    or what the file itself raises, if it cannot serve.
    """
    return _built(address if address.sender == "mixed" else address._replace(control=""), path, content)


@functools.cache
def _built(address: Address, file: Path | None, content: bytes) -> Model:
    """Build a model: the engine of its network with the endpoints of its flows, or a fluid."""
    if address.fluid:
        return _module("fluid.model").model(address)  # type: ignore[no-any-return]
    endpoint, others = _endpoints(address, None if file is None else _loaded(address, file, content))
    built: Model = _module(f"{address.family}.model").model(address, endpoint, others)
    if address.family != "shared" or address.traced:
        return replace(built, file=file)
    traced = functools.partial(_built, address._replace(traced=True), file, content)
    return replace(built, file=file, traced_by=traced)


def _endpoints(address: Address, own: ModuleType | None) -> tuple[Endpoint, dict[int, Endpoint]]:
    """Return the endpoint of the flows, and those of other kinds by number; `own` is a user's control."""
    if address.sender != "mixed":
        return _endpoint(address, own), {}
    others: dict[int, Endpoint] = {}
    if address.control == "linux":
        kinds = zip(senders.LINUX_KINDS, senders.OF_LINUX, strict=True)
        others = {senders.NUMBERS[name]: _endpoint(_linux(address, each), None) for name, each in kinds}
    if own is not None:
        others[senders.LINUX_OWN] = _endpoint(_linux(address, ""), own)
    return _module("tcp.endpoint").of_any_sender(address), others


def _linux(address: Address, control: str) -> Address:
    return address._replace(sender="linux", control=control)


def _endpoint(address: Address, own: ModuleType | None) -> Endpoint:
    """Return the endpoint of flows of one kind; `own` is a user's control."""
    folder = senders.FOLDERS[address.sender]
    return _module(f"{folder}.endpoint").of(address, own)  # type: ignore[no-any-return]


def _loaded(address: Address, file: Path, content: bytes) -> ModuleType:
    """Return a user's congestion control, which returns a rate too for today's Linux."""
    user = _module("congestion.user")
    return user.load(file, content, paced=address.sender in ("linux", "mixed"))  # type: ignore[no-any-return]


def _module(name: str) -> ModuleType:
    """Import a module of the kernels, when a model needs it."""
    return import_module(f"netcarlo.kernels.{name}")
