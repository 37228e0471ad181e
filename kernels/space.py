"""Set of all models, as tables: senders of each kind of network, their congestion controls and options.

A model is a network, a sender for it, a congestion control of that sender, and options, except for
combinations that `Network.never` and `Network.only` exclude. `addresses` generates all, `why_not` states why
an address has no model.
"""

import functools
from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any, NamedTuple

from netcarlo.kernels.base.address import Address
from netcarlo.kernels.senders import (
    BY_NAME,
    LINUX_FLUID,
    LINUX_FLUID_ALONE,
    NOTIFIED,
    OF_LINUX,
    PROBING,
    SCHEMES,
    SENDERS,
    STANDING,
    WINDOWS,
    WITH_FLUID,
    protocol,
)

EVERYWHERE = tuple(
    dict.fromkeys(protocol(sender) for sender in SENDERS if sender.name != "udp" and not sender.network)
)
"""Senders for every kind of network, by the value of the field `protocol`."""

COUPLED = "coupled"
"""Congestion control of models whose subflows are coupled, by the algorithm of `MptcpP.COUPLING`."""
MPTCP = ("reno", "cubic", "bbr", COUPLED)
"""Congestion controls of the subflows of MPTCP."""

CONTROLS: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys((*SCHEMES, *PROBING, *NOTIFIED, "linux26"), ("", *WINDOWS)),
    "linux": OF_LINUX,
    "mixed": ("", "linux"),
    "mptcp": MPTCP,
}
"""Congestion controls of a sender; "" is its own one, the only one of senders not listed here.

Flows of `mixed` are any TCP of ns-2 in `senders.MIXABLE`, with `linux` also today's Linux.
"""


class Network(NamedTuple):
    """Models of a kind of network."""

    senders: tuple[str, ...]
    options: tuple[str, ...]
    """Fields of an address that may be on or off."""
    never: tuple[frozenset[str], ...] = ()
    """Pairs of options, or of a sender or a congestion control and an option, that exclude each other."""
    only: Mapping[str, tuple[str, ...]] = {}
    """Senders of an option that is not for all senders."""
    controls: Mapping[str, tuple[str, ...]] = CONTROLS
    unlisted: tuple[str, ...] = ()
    """Options of models that differ from others only in the room that they have; `addresses` omits them."""


def _never(*pairs: str) -> tuple[frozenset[str], ...]:
    return tuple(frozenset(pair.split(" + ")) for pair in pairs)


NETWORKS: dict[str, Network] = {
    "path": Network(
        (*EVERYWHERE, "mptcp", "udp"),
        ("mobile", "varying", "messages", "autotuning", "delays", "reordering", "migration"),
        _never(
            "mobile + varying", "mobile + reordering", "varying + reordering", "mobile + autotuning",
            "reordering + messages", "reordering + autotuning",
            *(
                f"{one} + {option}" for one in ("mptcp", "migration")
                for option in ("mobile", "varying", "delays", "reordering")
            ),
        ),
        only={"messages": ("linux",), "autotuning": ("linux",), "migration": ("quic",)},
    ),
    "shared": Network(
        (*EVERYWHERE, "mixed"), ("aqm", "arrivals", "varying", "delays"),
        only={"arrivals": ("mixed", "linux")},
    ),
    "wireless": Network(
        (*EVERYWHERE, "udp", "mixed"), ("arrivals", "varying", "delays", "edca"),
        only={"arrivals": ("mixed", "linux")},
    ),
    "adhoc": Network((*EVERYWHERE, *NOTIFIED, "udp"), ("delays",), unlisted=("large",)),
}  # fmt: skip
"""Models that simulate packets, by kind of network."""

_OF_SACK = {"sack": ("", *(name for name in WINDOWS if name in WITH_FLUID))}
_OF_LINUX26 = {"linux26": tuple(name for name in _OF_SACK["sack"] if not (name and BY_NAME[name].linux26))}
_OF_LINUX = {"linux": tuple(name.removeprefix("linux_") for name in (*LINUX_FLUID, *LINUX_FLUID_ALONE))}
_FLUID = tuple(sender.name for sender in STANDING if sender.fluid and not sender.network)

FLUIDS: dict[str, Network] = {
    "path": Network(
        (*_FLUID, "linux26", "linux", "sctp", "quic", "mptcp", "udp"), ("mobile", "delays"),
        _never(
            "mobile + delays", "sctp + delays", "udp + delays", "bbr3 + mobile", "bbr3 + delays",
            "probing + mobile", *(f"{one} + delays" for one in PROBING),
            *(f"{one} + {option}" for one in ("quic", "mptcp") for option in ("mobile", "delays")),
        ),
        controls={**_OF_SACK, **_OF_LINUX26, **_OF_LINUX, "mptcp": MPTCP[:-1]},
    ),
    "shared": Network(("mixed",), ("aqm", "delays"), controls={}),
    "wireless": Network(("mixed",), ("edca",), controls={}),
    "adhoc": Network(
        (*_FLUID, *NOTIFIED, "linux26", "sctp", "udp"), (), controls=_OF_SACK | _OF_LINUX26,
        unlisted=("large",),
    ),
}  # fmt: skip
"""Fluid models, by kind of network."""


def addresses() -> Iterator[Address]:
    """Yield the addresses of all models but those with unlisted options."""
    for fluid, networks in ((False, NETWORKS), (True, FLUIDS)):
        for family, network in networks.items():
            for sender in network.senders:
                for control in network.controls.get(sender, ("",)):
                    for values in product((False, True), repeat=len(network.options)):
                        options: dict[str, Any] = dict(zip(network.options, values, strict=True))
                        address = Address(family, sender, control, fluid=fluid)._replace(**options)
                        if not _excluded(address, network):
                            yield address


def _on(address: Address) -> list[str]:
    """Return the names of the options that are on."""
    return [name for name in Address._fields if getattr(address, name) is True and name != "fluid"]


def _excluded(address: Address, network: Network) -> str:
    """Return the reason why sender and options exclude each other; empty if they do not."""
    on = _on(address)
    for option in on:
        if address.sender not in network.only.get(option, (address.sender,)):
            return f"{option} is supported only with {', '.join(network.only[option])}"
    found = {address.sender, address.control, *on}
    pair = next((pair for pair in network.never if pair <= found), frozenset())
    return " and ".join(sorted(pair)) + " cannot be combined" if pair else ""


def why_not(address: Address) -> str:
    """Return the reason why an address has no model, and the allowed values; empty if it has one."""
    kind = "fluid" if address.fluid else "packet"
    networks = FLUIDS if address.fluid else NETWORKS
    if address.family not in networks:
        return f"there is no {kind} model of {address.family}; known: {', '.join(networks)}"
    network = networks[address.family]
    if address.sender not in network.senders:
        allowed = ", ".join(network.senders)
        return f"{kind} models of {address.family} do not support {address.sender}; supported: {allowed}"
    controls = network.controls.get(address.sender, ("",))
    if address.control not in controls:
        allowed = ", ".join(control or "its own" for control in controls)
        what = f"the congestion control {address.control or 'of its own'}"
        return f"{address.sender} does not support {what}; supported: {allowed}"
    if wrong := [option for option in _on(address) if option not in network.options + network.unlisted]:
        allowed = ", ".join(network.options) or "none"
        return f"{kind} models of {address.family} have no option {wrong[0]}; supported: {allowed}"
    return _excluded(address, network)


@functools.cache
def by_name() -> Mapping[str, Address]:
    """Return the addresses of all models by name, see `addresses`."""
    return {address.name: address for address in addresses()}


def named(name: str) -> Address:
    """Return the address of the model of this name. Raises KeyError."""
    kind = name.removesuffix("_large")
    return by_name()[kind]._replace(large=kind != name)


def has(name: str) -> bool:
    """Return whether there is a model of this name."""
    return name.removesuffix("_large") in by_name() and not why_not(named(name))


def protocols(family: str) -> tuple[str, ...]:
    """Return the allowed values of `protocol` for flows of a kind of network.

    UDP flows can accompany those of every sender. A congestion control of ns-2 is a protocol, too: SACK with
    it.
    """
    known = NETWORKS[family].senders
    fits = [sender for sender in SENDERS if sender.name == "udp" or protocol(sender) in known]
    return tuple(dict.fromkeys("linux" if sender.dialect == "linux" else sender.name for sender in fits))
