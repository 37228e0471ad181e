"""Geometry of an 802.11 network: positions, routes of frames, and which nodes receive and sense each other.

Arrays are over the rows [n] of an ensemble; networks may differ in size. The nodes of a row are 0 .. nodes -
1, the last is the gateway; N is the maximum number of nodes.
"""

import math
from typing import NamedTuple

import numpy as np

from netcarlo.networks.wireless import signal
from netcarlo.networks.wireless.description import Ranges, Reach, Wireless
from netcarlo.numerics import normal, portable
from netcarlo.numerics.arrays import Bools, Floats, Ints
from netcarlo.schema.draws import Draws
from netcarlo.schema.quantity import Number

ADJACENT_CHANNEL_DB, OTHER_CHANNEL_DB = 16.0, 32.0
"""Rejection of an adjacent and of another channel at MCS 0 (IEEE 802.11-2020, Tables 19-23 and 21-25)."""

MASKS = ("sense", "decode", "control", "disturb", "disturb_control")


class Network(NamedTuple):
    """Trees and reception masks; `masks[name][row, i, j]` is true if node i senses (decodes ...) node j."""

    nodes: Ints  # [n]
    parent: Ints  # [n, N]: next node towards the gateway; the gateway and absent nodes are their own parents
    depth: Ints  # [n, N]: hops to the gateway
    masks: dict[str, Bools]  # [n, N, N] each
    received_dbm: Floats | None = None  # [n, N, N]: power at node i of a transmission of node j, by path loss


def network(wireless: Wireless, draws: Draws) -> Network:
    """Return the network of every row."""
    nodes = _stations(wireless, draws) + 1
    # Width of the largest network of the scenario, whatever was drawn; a sweep may have larger ones.
    most = max(wireless.most_stations + 1, int(nodes.max(initial=0)))
    places = _places(wireless, draws, nodes, most)
    if wireless.nodes is not None:
        return _given(wireless, nodes)
    if places is None:
        parent = _tree(wireless, draws, nodes, most)
        return _by_hops(wireless.reach or Reach(), draws, nodes, parent)
    if wireless.path_loss is not None:
        ranges, distance, capture, received = _by_power(wireless, draws, nodes, places)
        found = _by_distance(wireless, draws, nodes, distance, ranges, capture)
        return found._replace(received_dbm=received)
    assert wireless.ranges is not None
    return _by_distance(wireless, draws, nodes, _distances(places), _by_ranges(wireless.ranges, draws), {})


def _stations(wireless: Wireless, draws: Draws) -> Ints:
    if wireless.places is not None or wireless.nodes is not None:
        return np.full(len(draws.replications), wireless.most_stations)
    name = "wireless.chain.hops" if wireless.chain else f"wireless.{_kind(wireless)}.stations"
    return draws.whole(name, wireless.stations)


def _kind(wireless: Wireless) -> str:
    return "cell" if wireless.cell else "tree" if wireless.tree else "area"


def _redrawn(wireless: Wireless, draws: Draws) -> Draws:
    """Return the draws for random positions: those of the replication, or of the `topology` alone."""
    if wireless.redraw:
        return draws
    return Draws(draws.seed, np.zeros_like(draws.replications), draws.topology)


# The tree.


def _tree(wireless: Wireless, draws: Draws, nodes: Ints, most: int) -> Ints:
    """Return the parents [n, N] in a cell, chain or tree."""
    k = np.arange(most)
    gateway = (nodes - 1)[:, None]
    if wireless.chain is not None:
        parent = np.broadcast_to(k + 1, (len(nodes), most))
    elif wireless.tree is not None:
        children = draws.whole("wireless.tree.children", wireless.tree.children)[:, None]
        parent = np.where(k < children, gateway, k // children - 1)
    else:
        parent = np.broadcast_to(gateway, (len(nodes), most))
    return np.where(k < gateway, parent, k)


def _depth(parent: Ints, nodes: Ints) -> Ints:
    """Return the number of hops to the gateway [n, N]."""
    gateway = (nodes - 1)[:, None]
    at = np.broadcast_to(np.arange(parent.shape[1]), parent.shape)
    depth = np.zeros_like(parent)
    present = at < nodes[:, None]
    while (climbing := present & (at != gateway)).any():
        depth += climbing
        at = np.where(climbing, np.take_along_axis(parent, at, axis=1), at)
    return depth


def _hops_between(parent: Ints, depth: Ints) -> Ints:
    """Return the number of hops along the tree between nodes [n, N, N]."""
    n, most = parent.shape
    x = np.broadcast_to(np.arange(most)[:, None], (n, most, most))
    y = np.swapaxes(x, 1, 2)
    hops = np.zeros((n, most, most), np.int64)

    def above(at: Ints) -> Ints:
        return np.take_along_axis(parent, at.reshape(n, -1), axis=1).reshape(at.shape)

    def deep(at: Ints) -> Ints:
        return np.take_along_axis(depth, at.reshape(n, -1), axis=1).reshape(at.shape)

    for _ in range(2 * int(depth.max(initial=0))):
        apart = x != y
        dx, dy = deep(x), deep(y)
        climb_x = apart & (dx >= dy)
        climb_y = apart & (dx < dy)
        hops += apart
        x, y = np.where(climb_x, above(x), x), np.where(climb_y, above(y), y)
    return hops


def _given(wireless: Wireless, nodes: Ints) -> Network:
    given = wireless.nodes or []
    n, most = len(nodes), len(given)
    parent = np.array([most - 1 if node.next is None else node.next for node in given])
    parents = np.broadcast_to(parent, (n, most))
    masks = {name: np.zeros((most, most), bool) for name in MASKS}
    for i, node in enumerate(given):
        decode = node.sense if node.decode is None else node.decode
        disturb = node.sense if node.disturb is None else node.disturb
        lists = {
            "sense": node.sense,
            "decode": decode,
            "control": decode if node.control is None else node.control,
            "disturb": disturb,
            "disturb_control": disturb if node.disturb_control is None else node.disturb_control,
        }
        for name, others in lists.items():
            masks[name][i, others] = True
    every = {name: np.broadcast_to(mask, (n, most, most)) for name, mask in masks.items()}
    return Network(nodes, parents, _depth(parents, nodes), every)


def _by_hops(reach: Reach, draws: Draws, nodes: Ints, parent: Ints) -> Network:
    trees, which = np.unique(np.column_stack([nodes, parent]), axis=0, return_inverse=True)
    depths = _depth(trees[:, 1:], trees[:, 0])
    hops = _hops_between(trees[:, 1:], depths)[which.reshape(-1)]
    depth = depths[which.reshape(-1)]

    def limit(name: str, value: Number | None, otherwise: Floats) -> Floats:
        return draws.either(f"wireless.reach.{name}", value, otherwise)

    sense = limit("sense", reach.sense, np.zeros(0))
    limits = {"sense": sense, "decode": limit("decode", reach.decode, np.where(np.isinf(sense), sense, 1))}
    limits["control"] = limit("control", reach.control, sense)
    limits["disturb"] = limit("disturb", reach.disturb, sense)
    limits["disturb_control"] = limit("disturb_control", reach.disturb_control, limits["disturb"])
    masks = {name: hops <= limits[name][:, None, None] for name in MASKS}
    return Network(nodes, parent, depth, _among(masks, nodes))


# Places.


def _places(wireless: Wireless, draws: Draws, nodes: Ints, most: int) -> Floats | None:
    """Return the positions of nodes [n, N, 2] [m]; None if distances are not used."""
    if wireless.ranges is None and wireless.path_loss is None:
        return None
    n = len(nodes)
    gateway, rows = nodes - 1, np.arange(n)
    if wireless.places is not None:
        given = [
            (draws.floats(f"wireless.places.{i}.x", p.x), draws.floats(f"wireless.places.{i}.y", p.y))
            for i, p in enumerate(wireless.places)
        ]
        return np.asarray(np.moveaxis(np.array(given), 2, 0))
    again = _redrawn(wireless, draws)
    if wireless.area is not None:
        side = draws.floats("wireless.area.side", wireless.area.side)
        where = [
            (again.uniform(f"wireless.area.{k}.x"), again.uniform(f"wireless.area.{k}.y"))
            for k in range(most)
        ]
        places = np.moveaxis(np.array(where), 2, 0)
        places[rows, gateway] = 0.5 if wireless.area.gateway == "middle" else 0.0
        return np.asarray(places * side[:, None, None])
    spacing = _spacings(wireless, draws, most - 1)
    parent = _tree(wireless, draws, nodes, most)
    depth = _depth(parent, nodes)
    step = np.zeros((n, most, 2))
    for k in range(most - 1):
        step[:, k, 0] = spacing[:, k]
        if wireless.tree is not None:
            turn = 2 * np.pi * again.uniform(f"wireless.tree.{k}.direction")
            step[:, k] = spacing[:, k, None] * np.stack([np.cos(turn), np.sin(turn)], axis=1)
    places = np.zeros((n, most, 2))
    at = np.broadcast_to(np.arange(most), parent.shape)
    for _ in range(int(depth.max(initial=0))):
        below = (np.take_along_axis(depth, at, axis=1) > 0)[:, :, None]
        places += np.where(below, np.take_along_axis(step, at[:, :, None], axis=1), 0)
        at = np.take_along_axis(parent, at, axis=1)
    return places


def _spacings(wireless: Wireless, draws: Draws, links: int) -> Floats:
    """Return the length of every link [n, stations] [m]."""
    layout, name = (wireless.chain, "chain") if wireless.chain else (wireless.tree, "tree")
    assert layout is not None
    every = draws.either(f"wireless.{name}.spacing", layout.spacing, np.full(len(draws.replications), np.nan))
    lengths = [
        draws.either(f"wireless.each.{k}.spacing", wireless.link(k).spacing, every) for k in range(links)
    ]
    return np.stack(lengths, axis=1)


def _distances(places: Floats) -> Floats:
    """Return the distances between nodes [n, N, N] [m]."""
    apart = places[:, :, None] - places[:, None]
    return np.asarray(np.sqrt((apart * apart).sum(axis=3)))


def _by_ranges(ranges: Ranges, draws: Draws) -> dict[str, Floats]:
    """Return the range of each of `MASKS` [n] [m]."""
    found: dict[str, Floats] = {}
    before = np.zeros(0)
    for name in ("decode", "control", "sense", "disturb", "disturb_control"):
        found[name] = before = draws.either(f"wireless.ranges.{name}", getattr(ranges, name), before)
    return found


def _by_power(
    wireless: Wireless, draws: Draws, nodes: Ints, places: Floats
) -> tuple[dict[str, Floats], Floats, dict[str, Floats], Floats | None]:
    """Return ranges [n], distances [n, N, N], capture factors [n] and received power [n, N, N] [dBm]
    (with EDCA).

    Shadowing, walls and the power of the gateway are additional distance; the last index is the sender. A
    capture factor is the ratio of distances beyond which a transmission does not destroy a frame.
    """
    loss = wireless.path_loss
    assert loss is not None

    def value(name: str) -> Floats:
        return draws.floats(f"wireless.path_loss.{name}", getattr(loss, name))

    usual = signal.usual_dbm(wireless, draws)
    power = value("power_dbm")
    reference = draws.either("wireless.path_loss.reference_db", loss.reference_db, usual["reference_db"])
    per_octave = 10 * value("exponent") / portable.log2(10.0)  # loss per doubling of the distance [dB]

    def times(decibel: Floats) -> Floats:
        return portable.exp2(decibel / per_octave)

    ranges = {}
    for name in ("decode", "control", "sense"):
        field = f"{name}_dbm"
        least = draws.either(f"wireless.path_loss.{field}", getattr(loss, field), usual[field])
        if wireless.has_edca and name != "sense":
            usual |= {"control_dbm": least, "sense_dbm": least}
        ranges[name] = times(power - reference - least)
    distance = _distances(places)
    shadowing = value("shadowing_db")
    if shadowing.any():
        again = _redrawn(wireless, draws)
        most = places.shape[1]
        for i in range(most):
            for j in range(i):
                z = normal.quantile(np.maximum(again.uniform(f"wireless.shadowing.{i}.{j}"), 2.0**-53))
                distance[:, i, j] *= times(shadowing * z)
                distance[:, j, i] = distance[:, i, j]
    if loss.rooms is not None:
        walls = _walls(places, value("rooms"))
        each = times(value("wall_db"))
        for count in range(1, int(walls.max(initial=0)) + 1):
            distance *= np.where(walls >= count, each[:, None, None], 1)
    apart = _channels_apart(wireless)
    if apart is not None:
        for decibel, there in ((ADJACENT_CHANNEL_DB, apart == 1), (OTHER_CHANNEL_DB, apart > 1)):
            weaker = times(np.full(len(nodes), decibel))
            distance *= np.where(there, weaker[:, None, None], 1)
    more = draws.either("wireless.path_loss.gateway_power_dbm", loss.gateway_power_dbm, power) - power
    if more.any():
        distance[np.arange(len(nodes)), :, nodes - 1] *= times(-more)[:, None]
    received = None
    if wireless.follows_signal:
        octaves = portable.log(distance) / math.log(2)
        received = (power - reference)[:, None, None] - per_octave[:, None, None] * octaves
    capture = {
        "disturb": times(value("capture_db")), "disturb_control": times(value("control_capture_db"))
    }  # fmt: skip
    return ranges, distance, capture, received


def _channels_apart(wireless: Wireless) -> Ints | None:
    """Return how far apart the channels of nodes are [N, N], or None if all have the same."""
    channels = np.array([place.channel for place in wireless.places or []])
    apart = np.abs(channels[:, None] - channels)
    return apart if apart.any() else None


def _walls(places: Floats, side: Floats) -> Ints:
    """Return the number of walls between nodes [n, N, N] in square rooms with a side [n] [m]."""
    room = np.floor(places / side[:, None, None]).astype(np.int64)
    return np.asarray(np.abs(room[:, :, None] - room[:, None]).sum(axis=3))


def _by_distance(
    wireless: Wireless,
    draws: Draws,
    nodes: Ints,
    distance: Floats,
    ranges: dict[str, Floats],
    capture: dict[str, Floats],
) -> Network:
    """Return masks by ranges; scattered stations use routes with the fewest hops."""
    masks = _among({name: distance <= limit[:, None, None] for name, limit in ranges.items()}, nodes)
    apart = _channels_apart(wireless)
    if apart is not None:
        for name in ("decode", "control") if capture else tuple(masks):
            masks[name] = masks[name] & (apart == 0)
    masks["decode"] = masks["decode"] & masks["sense"]
    masks["control"] = masks["control"] & masks["sense"]
    scattered = wireless.area is not None or wireless.places is not None
    if scattered and (not wireless.has_edca if wireless.relays is None else wireless.relays):
        both = masks["decode"] & masks["decode"].swapaxes(1, 2)
        parent = _shortest(both, distance, nodes)
    else:
        parent = _tree(wireless, draws, nodes, distance.shape[1])
    for k, place in enumerate(wireless.places or []):
        if place.next is not None:
            parent = parent.copy()
            parent[:, k] = place.next
    if capture:
        far = _farthest_neighbour(parent, distance, nodes)
        for name, factor in capture.items():
            near = distance < (far * factor[:, None])[:, :, None]
            masks[name] = _among({name: near}, nodes)[name] & masks["sense"]
    return Network(nodes, parent, _depth(parent, nodes), masks)


def _shortest(linked: Bools, distance: Floats, nodes: Ints) -> Ints:
    """Return the parents [n, N] on routes with the fewest hops; ties are resolved by the shortest link.

    A station without a route to the gateway sends to the gateway in vain.
    """
    most = distance.shape[1]
    k, gateway = np.arange(most), (nodes - 1)[:, None]
    parent = np.where(k < gateway, gateway, k)
    level = np.where(k == gateway, 0, most)
    for hops in range(1, most):
        ahead = linked & (level == hops - 1)[:, None, :]
        found = ahead.any(axis=2) & (level == most)
        if not found.any():
            break
        nearest = np.where(ahead, distance, np.inf).argmin(axis=2)
        parent = np.where(found, nearest, parent)
        level = np.where(found, hops, level)
    return parent


def _farthest_neighbour(parent: Ints, distance: Floats, nodes: Ints) -> Floats:
    """Return the distance of the farthest tree neighbour of each node [n, N]."""
    n, most = parent.shape
    far = np.zeros((n, most))
    rows = np.arange(n)
    for k in range(most - 1):
        here = k < nodes - 1
        up = parent[:, k]
        far[:, k] = np.maximum(far[:, k], np.where(here, distance[rows, k, up], 0))
        far[rows, up] = np.maximum(far[rows, up], np.where(here, distance[rows, up, k], 0))
    return far


def _among(masks: dict[str, Bools], nodes: Ints) -> dict[str, Bools]:
    """Return the masks without absent nodes and without the node itself."""
    most = next(iter(masks.values())).shape[1]
    present = np.arange(most) < nodes[:, None]
    pairs = present[:, :, None] & present[:, None, :] & ~np.eye(most, dtype=bool)
    return {name: mask & pairs for name, mask in masks.items()}
