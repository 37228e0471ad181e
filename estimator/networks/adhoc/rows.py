"""Construction of rows of the engine of ad hoc networks."""

import math
from typing import Any

import numpy as np

from netcarlo.kernels.adhoc import layout
from netcarlo.kernels.adhoc.layout import METRE, Manet, ManetOut, ManetRows, NodeOut, Place
from netcarlo.kernels.base.layout import FOREVER, NS
from netcarlo.kernels.base.loss import thresholds
from netcarlo.kernels.base.parameters import P, ReliableP, RowP
from netcarlo.networks.adhoc.description import (
    Adhoc,
    GaussMarkov,
    Given,
    RandomDirection,
    RandomWaypoint,
    SpeedRange,
    TimeRange,
)
from netcarlo.networks.adhoc.outcomes import Power
from netcarlo.networks.queue_limits import drawn, of_frames
from netcarlo.networks.run import PACKET
from netcarlo.numerics.arrays import Floats, Ints
from netcarlo.schema.draws import Draws

RTS_BYTES, CTS_BYTES, ACK_BYTES = 20, 14, 14

MODELS = {
    "static": layout.STATIC,
    "random_waypoint": layout.RANDOM_WAYPOINT,
    "random_direction": layout.RANDOM_DIRECTION,
    "gauss_markov": layout.GAUSS_MARKOV,
    "given": layout.GIVEN,
}
ROUTING = {"dsr": layout.DSR, "ideal": layout.IDEAL}
OBSERVE = {"end": layout.OBSERVE_END, "completion": layout.OBSERVE_COMPLETION}

_US = 1e6
_WORD = 2.0**16
_PART = math.sqrt(2 / math.pi)
"""Ratio of the standard deviation of each component of a normal velocity to its mean magnitude."""


def build(adhoc: Adhoc, draws: Draws, parameters: Ints, *, constants: Floats) -> ManetRows:
    """Build rows [n]; `parameters` [n, len(P)] are those of the transport."""
    n = len(parameters)
    nodes = draws.whole("adhoc.nodes", adhoc.all_nodes)
    table = np.zeros((n, Manet.COLUMNS + len(Power)), np.int64)
    table[:, : len(P)] = parameters
    errors = {
        Manet.FRAME_LOSS: draws.floats("adhoc.frame_error", adhoc.frame_error),
        Manet.RESIDUAL: draws.floats("adhoc.residual_error", adhoc.residual_error),
        Manet.ACK_RESIDUAL: draws.floats("adhoc.ack_error", adhoc.ack_error),
    }
    probabilities, row = np.unique(np.stack(list(errors.values()), axis=1), return_inverse=True)
    columns: dict[Any, Any] = {
        Manet.NODES: nodes,
        Manet.SOURCE: adhoc.source,
        Manet.SINK: adhoc.sink,
        Manet.OBSERVE: OBSERVE[adhoc.observe],
        Manet.ROUTING: ROUTING[adhoc.routing],
        **_motion(adhoc, draws),
        **_hearing(adhoc, draws),
        **_radio(adhoc, draws, parameters[:, PACKET].sum(axis=1)),
        **_power(adhoc, draws),
        **dict(zip(errors, row.reshape(n, len(errors)).T, strict=True)),
    }
    for column, values in columns.items():
        table[:, column] = values
    most = max(adhoc.most_nodes, int(nodes.max(initial=0)))
    return ManetRows(table, constants, *_trajectories(adhoc, draws, most), thresholds(probabilities))


def _motion(adhoc: Adhoc, draws: Draws) -> dict[Manet, Any]:
    found: dict[Manet, Any] = {Manet.MOBILITY: MODELS[adhoc.mobility.model]}
    if (area := adhoc.area) is not None:
        sides = ("side", "side") if area.side is not None else ("width", "height")
        for column, name in zip((Manet.WIDTH, Manet.HEIGHT), sides, strict=True):
            found[column] = draws.whole(f"adhoc.area.{name}", getattr(area, name), METRE)
    if (apart := adhoc.apart) is not None:
        at = "adhoc.mobility.start.apart"
        found[Manet.APART_MIN] = draws.whole(f"{at}.min", apart.least, METRE)
        found[Manet.APART_MAX] = draws.whole(f"{at}.max", apart.most, METRE)
    model = adhoc.mobility
    if not isinstance(model, RandomWaypoint | RandomDirection | GaussMarkov):
        return found
    found[Manet.MOTION_BEFORE] = draws.whole("adhoc.mobility.warm_up", model.warm_up, NS)
    factor = METRE * (_PART if isinstance(model, GaussMarkov) else 1.0)
    found |= _between(draws, "speed", model.speed, factor, Manet.SPEED_MIN, Manet.SPEED_MAX)
    if isinstance(model, RandomWaypoint):
        found |= _between(draws, "pause", model.pause, _US, Manet.PAUSE_MIN, Manet.PAUSE_MAX)
    elif isinstance(model, RandomDirection):
        found[Manet.LEG] = draws.whole("adhoc.mobility.leg", model.leg, _US)
    else:
        memory = draws.floats("adhoc.mobility.memory", model.memory)
        found[Manet.LEG] = draws.whole("adhoc.mobility.step", model.step, _US)
        found[Manet.MEMORY] = np.rint(memory * _WORD)
        found[Manet.FRESH] = np.rint(np.sqrt(1 - memory * memory) * _WORD)
    return found


def _between(
    draws: Draws, name: str, value: Any, factor: float, least: Manet, most: Manet
) -> dict[Manet, Ints]:
    """Return the columns of a number or of a range."""
    at = f"adhoc.mobility.{name}"
    if isinstance(value, SpeedRange | TimeRange):
        return {
            least: draws.whole(f"{at}.min", value.min, factor),
            most: draws.whole(f"{at}.max", value.max, factor),
        }
    return dict.fromkeys((least, most), draws.whole(at, value, factor))


def _hearing(adhoc: Adhoc, draws: Draws) -> dict[Manet, Ints]:
    range_m = draws.floats("adhoc.range", adhoc.range)
    sense_m = draws.either("adhoc.sense", adhoc.sense, 2.2 * range_m)
    capture = draws.floats("adhoc.capture", adhoc.capture)
    return {
        Manet.RANGE: np.rint(range_m * METRE).astype(np.int64),
        Manet.SENSE: np.rint(np.maximum(sense_m, range_m) * METRE).astype(np.int64),
        # Power falls with the fourth power of the distance.
        Manet.CAPTURE: np.rint(np.sqrt(capture) * 2**10).astype(np.int64),
    }


def _radio(adhoc: Adhoc, draws: Draws, packet: Ints) -> dict[Manet, Ints]:
    """Return the columns of the radios; `packet` is the size of a data packet [n] [byte]."""
    radio, at = adhoc.radio, "adhoc.radio"
    found = draws.columns(radio, at)
    preamble = found[Manet.PREAMBLE]
    byte = np.rint(8e9 / draws.floats(f"{at}.rate", radio.rate)).astype(np.int64)
    basic = np.rint(8e9 / draws.floats(f"{at}.basic_rate", radio.basic_rate)).astype(np.int64)
    return found | {
        Manet.QUEUE: of_frames(drawn(draws, f"{at}.queue", radio.queue), packet, draws),
        Manet.RTS: preamble + RTS_BYTES * basic,
        Manet.CTS: preamble + CTS_BYTES * basic,
        Manet.MAC_ACK: preamble + ACK_BYTES * basic,
        Manet.BYTE_TIME: byte,
        Manet.BROADCAST_BYTE_TIME: basic,
    }


def _power(adhoc: Adhoc, draws: Draws) -> dict[Power, Any]:
    energy, at = adhoc.energy, "adhoc.energy"
    receive = draws.floats(f"{at}.receive", energy.receive)
    battery = draws.either(f"{at}.battery", energy.battery, np.zeros(len(receive)))
    return {
        Power.TRANSMIT: draws.whole(f"{at}.transmit", energy.transmit, 1e6),
        Power.RECEIVE: np.rint(receive * 1e6),
        Power.OVERHEAR: np.rint(draws.either(f"{at}.overhear", energy.overhear, receive) * 1e6),
        Power.IDLE: draws.whole(f"{at}.idle", energy.idle, 1e6),
        Power.BATTERY: np.rint(battery * 1e6),
    }


def _trajectories(adhoc: Adhoc, draws: Draws, nodes: int) -> tuple[Ints, Ints]:
    """Return times [n, N, K] and positions [n, N, K, len(Place)] of the `nodes`; empty unless given."""
    trajectories = adhoc.mobility.nodes if isinstance(adhoc.mobility, Given) else []
    times = np.full((len(draws.replications), nodes, max(map(len, trajectories), default=1)), FOREVER)
    places = np.zeros((*times.shape, len(Place)), np.int64)
    for i, stops in enumerate(trajectories):
        for k, stop in enumerate(stops):
            at = f"adhoc.mobility.nodes.{i}.{k}"
            times[:, i, k] = draws.whole(f"{at}.time", stop.time, NS)
            places[:, i, k, Place.X] = draws.whole(f"{at}.x", stop.x, METRE)
            places[:, i, k, Place.Y] = draws.whole(f"{at}.y", stop.y, METRE)
    return times, places


def features(adhoc: Adhoc, draws: Draws, rows: ManetRows) -> dict[str, Floats]:
    """Return features of one hop, see `ensemble.features`; the number of hops changes all the time."""
    p = rows.parameters
    packet = p[:, [RowP.DATA, RowP.CHUNK_HEADER, RowP.HEADER]].sum(axis=1)
    data_ns, ack_ns = _exchange_ns(p, packet), _exchange_ns(p, p[:, ReliableP.ACK])
    return {
        "n_hops": np.ones(len(p)),
        "bottleneck_bps": 8e9 * packet / data_ns,
        "base_rtt_s": (data_ns + ack_ns) / NS,
        "path_loss": draws.floats("adhoc.residual_error", adhoc.residual_error),
        "bdp_packets": (data_ns + ack_ns) / data_ns,
    }


def _exchange_ns(p: Ints, size: Ints) -> Floats:
    """Return the time [ns] for which a frame of `size` bytes [n] occupies the channel, without backoff."""
    around = p[:, [Manet.RTS, Manet.CTS, Manet.MAC_ACK]].sum(axis=1) + 4 * p[:, Manet.SIFS]
    frame = p[:, Manet.PREAMBLE] + (size + p[:, Manet.OVERHEAD]) * p[:, Manet.BYTE_TIME]
    return np.asarray(around + 2 * p[:, Manet.SLOT] + frame, np.float64)


def row_bytes(adhoc: Adhoc) -> int:
    """Return the memory of one row and its outcomes [byte]."""
    trajectories = adhoc.mobility.nodes if isinstance(adhoc.mobility, Given) else []
    per_node = max(map(len, trajectories), default=1) * (1 + len(Place)) + NodeOut.COLUMNS
    return 8 * (Manet.COLUMNS + len(Power) + ManetOut.COLUMNS + adhoc.most_nodes * per_node)
