"""Phrase that describes an 802.11 network: `an 802.11g cell of 10 stations (54 Mbit/s)`."""

from typing import Any

from netcarlo.networks import phrases
from netcarlo.networks.wireless.description import Wireless
from netcarlo.schema.quantity import bounds
from netcarlo.schema.readable import between, quantity

_WAYS = {"up": "from every station", "down": "to every station", "both": "from and to every station"}


def phrase(radio: Wireless) -> str:
    """Return standard, layout and rate of an 802.11 network in a phrase."""
    if radio.cell is not None:
        where = f"cell of {quantity(radio.cell.stations, '')} stations"
    elif radio.chain is not None:
        where = f"chain of {quantity(radio.chain.hops, '')} hops"
    elif radio.tree is not None:
        where = f"tree of {quantity(radio.tree.stations, '')} stations"
    elif radio.area is not None:
        where = f"mesh of {quantity(radio.area.stations, '')} stations at random places"
    else:
        where = f"network of {len(radio.places or radio.nodes or ())} nodes"
    return f"an {radio.standard} {where} ({_rates(radio)})"


def _rates(radio: Wireless) -> str:
    """Return the range of the first rates of all links."""
    found = radio.first_rates
    if all(link.rate is not None or link.mcs is not None for link in radio.links):
        found = found[1:]  # no link has the rate of the network
    if len(found) == 1:
        return quantity(found[0], "bit/s")
    ends = [bounds(rate) for rate in found]
    return between(min(low for low, _ in ends), max(high for _, high in ends), "bit/s")


def flows(radio: Wireless, transport: Any) -> str:
    """Return the flows of an 802.11 network in a phrase: `NewReno from every station`."""
    if isinstance(radio.flows, str):
        return f"{transport.traffic} {_WAYS[radio.flows]}"
    return phrases.flows(radio.flows, transport)
