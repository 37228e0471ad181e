"""Phrase that describes a network of shared links: `one shared link (10 Mbit/s, 20 ms)`."""

from typing import Any

from netcarlo.networks.phrases import link
from netcarlo.networks.shared.description import SharedSpec
from netcarlo.schema.quantity import Number
from netcarlo.schema.readable import quantity


def phrase(shared: SharedSpec) -> str:
    """Return the layout of a network of shared links in a phrase."""
    if shared.dumbbell is not None:
        return f"one shared link ({link(shared.dumbbell)})"
    if shared.parking_lot is not None:
        return _cables("a parking lot of", shared.parking_lot.links, "links", shared.parking_lot.each)
    if shared.tree is not None:
        return _cables("a random tree of", shared.tree.routers, "routers", shared.tree.each)
    if shared.graph is not None:
        return _cables("a random graph of", shared.graph.routers, "routers", shared.graph.each)
    links = shared.links or []
    return f"{len(links)} links between {len({end for each in links for end in each.ends})} routers"


def _cables(words: str, number: Number, what: str, each: Any) -> str:
    text = f"{words} {quantity(number, '')} {what}"
    return text if isinstance(each, list) else f"{text} ({link(each)} each)"
