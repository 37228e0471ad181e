"""The flows of a wireless scenario: their ends, their way through the network, and what they send."""

from typing import Any, NamedTuple

import numpy as np

from netcarlo.errors import InputError
from netcarlo.kernels.base.layout import BYTE_TIME_BITS, NS, P
from netcarlo.kernels.wireless.layout import NOBODY, Flow, Leg
from netcarlo.networks.wireless.description import FlowSpec, LegSpec, Wireless
from netcarlo.networks.wireless.geometry import Network
from netcarlo.numerics.arrays import Ints
from netcarlo.schema.draws import Draws
from netcarlo.transport.udp import Datagrams, Udp

GATEWAY = -1
"""The gateway as the end of a flow: its number differs between rows."""


class End(NamedTuple):
    """A flow of the scenario: its ends are station numbers or GATEWAY; `name` is where its fields are."""

    name: str
    source: int
    sink: int
    spec: FlowSpec


def flows(wireless: Wireless, *, stations: int) -> list[End]:
    """The flows of a network of `stations`."""
    if isinstance(wireless.flows, list):
        return [
            End(f"wireless.flows.{k}", _number(flow.source), _number(flow.sink), flow)
            for k, flow in enumerate(wireless.flows)
        ]
    sources = range(1 if wireless.chain else stations)
    up = [(k, GATEWAY) for k in sources] if wireless.flows in ("up", "both") else []
    down = [(GATEWAY, k) for k in sources] if wireless.flows in ("down", "both") else []
    return [End("transport", *ends, FlowSpec()) for ends in [*up, *down]]


def _number(end: Any) -> int:
    return GATEWAY if end == "gateway" else int(end)


def legs(
    wireless: Wireless, transport: Any, draws: Draws, parameters: Ints, ends: list[End]
) -> tuple[Ints, list[dict[Flow, int]]]:
    """Legs [n, L, len(Leg)], and which of them each flow passes, by column.

    All flows share the wire's two; each has a sender's and a receiver's of its own.
    """
    made: list[Ints] = []

    def add(leg: Ints) -> int:
        made.append(leg)
        return len(made) - 1

    spec = {name: getattr(wireless, name) for name in ("wire", "sender_delay", "receiver")}
    leg = {name: _leg(each, f"wireless.{name}", draws) for name, each in spec.items() if each is not None}
    out, back = (add(leg["wire"]), add(leg["wire"])) if "wire" in leg else (NOBODY, NOBODY)
    passed = []
    for end in ends:
        mine = dict.fromkeys((Flow.BEFORE, Flow.AFTER, Flow.ACK_BEFORE, Flow.ACK_AFTER), NOBODY)
        if end.sink == GATEWAY:
            mine |= {Flow.AFTER: out, Flow.ACK_BEFORE: back}
        if end.source == GATEWAY:
            mine |= {Flow.BEFORE: back, Flow.ACK_AFTER: out}
        if "sender_delay" in leg:
            mine[Flow.BEFORE] = add(leg["sender_delay"])
        if "receiver" in leg:
            mine[Flow.AFTER] = add(leg["receiver"].copy())
            if not _datagrams(transport, end):
                _read(made[-1], wireless, draws, parameters)
        passed.append(mine)
    none = np.zeros((len(draws.replications), 0, len(Leg)), np.int64)
    return (np.stack(made, axis=1) if made else none), passed


def _datagrams(transport: Any, end: End) -> Datagrams | None:
    """What a flow sends if it is UDP."""
    return end.spec.udp or (transport if isinstance(transport, Udp) else None)


def _read(leg: Ints, wireless: Wireless, draws: Draws, parameters: Ints) -> None:
    """Let the application of a TCP receiver read from its leg."""
    receiver = wireless.receiver
    assert receiver is not None
    if receiver.read is None:
        return
    leg[:, Leg.READ] = draws.whole("wireless.receiver.read", receiver.read)
    leg[:, Leg.READ_TIME] = draws.whole("wireless.receiver.read_time", receiver.read_time, NS)
    leg[:, Leg.SIZE] = parameters[:, P.DATA]
    short = np.flatnonzero(leg[:, Leg.READ] < leg[:, Leg.SIZE])
    if short.size:
        row = short[0]
        raise InputError(
            f"wireless.receiver.read can be {leg[row, Leg.READ]} B, less than a segment; allowed is "
            f"transport.payload, {leg[row, Leg.SIZE]} B, or more; raise it"
        )


def _leg(leg: LegSpec, name: str, draws: Draws) -> Ints:
    """[n, len(Leg)]."""
    table = np.zeros((len(draws.replications), len(Leg)), np.int64)
    rate = draws.floats(f"{name}.rate", leg.rate)
    table[:, Leg.BYTE_TIME] = np.rint(8e9 * 2**BYTE_TIME_BITS / rate)
    draws.fill(table, leg, name)
    if leg.phase is None:
        table[:, Leg.PHASE] = table[:, Leg.TICK] * draws.uniform(f"{name}.phase")
    else:
        table[:, Leg.PHASE] = draws.whole(f"{name}.phase", leg.phase, NS)
    return table


def table(
    wireless: Wireless,
    transport: Any,
    draws: Draws,
    net: Network,
    parameters: Ints,
    *,
    ends: list[End],
    legs: list[dict[Flow, int]],
) -> tuple[Ints, Ints, Ints]:
    """Flows [n, F, len(Flow)], how many there are [n], their paths [n, F, 2, W]; `legs` are those of each."""
    n = len(parameters)
    gateway = net.nodes - 1
    found: list[Ints] = []
    routes: list[tuple[Ints, Ints]] = []
    present = np.zeros((n, len(ends)), bool)
    for f, end in enumerate(ends):
        source = gateway if end.source == GATEWAY else np.full(n, end.source)
        sink = gateway if end.sink == GATEWAY else np.full(n, end.sink)
        present[:, f] = np.maximum(end.source, end.sink) < gateway
        # A flow that a row does not have is moved behind the others, and goes nowhere.
        source, sink = (np.where(present[:, f], each, gateway) for each in (source, sink))
        routes.append(_route(net, source, sink))
        mine = _traffic(transport, wireless, draws, parameters, end, f)
        for column, value in legs[f].items():
            mine[:, column] = value
        found.append(mine)
    width = max(int(length.max(initial=1)) for _, length in routes)
    paths = np.zeros((n, len(ends), 2, width), np.int64)
    for f, (route, length) in enumerate(routes):
        w = min(width, route.shape[1])
        paths[:, f, 0, :w] = route[:, :w]
        back = np.clip(length[:, None] - 1 - np.arange(width), 0, None)
        reverse = np.take_along_axis(paths[:, f, 0], back, axis=1) ^ 1
        paths[:, f, 1] = np.where(np.arange(width) < length[:, None], reverse, 0)
        found[f][:, Flow.FORTH_AT], found[f][:, Flow.FORTH] = 2 * f * width, length
        found[f][:, Flow.BACK_AT] = (2 * f + 1) * width
        found[f][:, Flow.BACK] = np.where(found[f][:, Flow.TCP] == 1, length, 0)
    order = np.argsort(~present, axis=1, kind="stable")
    every = np.take_along_axis(np.stack(found, axis=1), order[:, :, None], axis=1)
    count = present.sum(axis=1)
    every[np.arange(len(ends)) >= count[:, None]] = 0
    return every, count, paths


def _route(net: Network, source: Ints, sink: Ints) -> tuple[Ints, Ints]:
    """Links along the tree from `source` to `sink` [n]: [n, W] and how many [n]."""
    n, rows = len(source), np.arange(len(source))
    width = 2 * int(net.depth.max(initial=1))
    up, down = np.zeros((n, width), np.int64), np.zeros((n, width), np.int64)
    ups, downs = np.zeros(n, np.int64), np.zeros(n, np.int64)
    x, y = source, sink
    while (apart := x != y).any():
        dx, dy = net.depth[rows, x], net.depth[rows, y]
        climb, descend = apart & (dx >= dy), apart & (dy >= dx)
        up[rows[climb], ups[climb]] = 2 * x[climb]
        down[rows[descend], downs[descend]] = 2 * y[descend] + 1
        ups, downs = ups + climb, downs + descend
        x = np.where(climb, net.parent[rows, x], x)
        y = np.where(descend, net.parent[rows, y], y)
    length = ups + downs
    k = np.arange(width)
    from_down = np.take_along_axis(down, np.clip(length[:, None] - 1 - k, 0, width - 1), axis=1)
    route = np.where(k < ups[:, None], up, np.where(k < length[:, None], from_down, 0))
    return route, length


def _traffic(transport: Any, wireless: Wireless, draws: Draws, parameters: Ints, end: End, f: int) -> Ints:
    """What a flow sends: [n, len(Flow)] without its route."""
    n, spec = len(parameters), end.spec
    table = np.zeros((n, len(Flow)), np.int64)
    udp = _datagrams(transport, end)
    table[:, Flow.SIZE] = parameters[:, P.DATA]
    table[:, Flow.HEADER] = parameters[:, P.HEADER] + parameters[:, P.CHUNK_HEADER]
    table[:, Flow.START], table[:, Flow.LIMIT] = parameters[:, P.START], parameters[:, P.LIMIT]
    table[:, Flow.STOP] = parameters[:, P.END]
    if udp is None:
        table[:, Flow.TCP] = 1
        if wireless.receiver is not None:
            table[:, Flow.ACK_COST] = draws.whole(
                "wireless.receiver.ack_time", wireless.receiver.ack_time, NS
            )
    else:
        at = f"{end.name}.udp" if spec.udp is not None else "transport"
        table[:, Flow.SIZE] = draws.whole(f"{at}.payload", udp.payload)
        table[:, Flow.HEADER] = draws.whole(f"{at}.header", udp.header)
        table[:, Flow.START] = draws.whole(f"{at}.start", udp.start, NS)
        if udp.stop is not None:
            table[:, Flow.STOP] = draws.whole(f"{at}.stop", udp.stop, NS)
        table[:, Flow.LIMIT] = draws.limit(at, udp, table[:, Flow.SIZE])
    if spec.start is not None:
        table[:, Flow.START] = draws.whole(f"{end.name}.start", spec.start, NS)
    if spec.stop is not None:
        table[:, Flow.STOP] = draws.whole(f"{end.name}.stop", spec.stop, NS)
    if spec.bytes is not None or spec.packets is not None:
        table[:, Flow.LIMIT] = draws.limit(end.name, spec, table[:, Flow.SIZE])
    if udp is not None:
        rate = draws.floats(f"{at}.rate", udp.rate)
        table[:, Flow.INTERVAL] = np.rint(8e9 * table[:, Flow.SIZE] / rate)
        phase = draws.uniform(f"wireless.flows.{f}.phase")
        table[:, Flow.START] += (table[:, Flow.INTERVAL] * phase).astype(np.int64)
    return table
