"""From a wireless scenario to the rows that the 802.11 engine reads."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from netcarlo import dot11, geometry
from netcarlo.draws import Draws, Floats, Ints
from netcarlo.geometry import Network
from netcarlo.kernels.layout import BYTE_TIME_BITS, P
from netcarlo.kernels.loss import thresholds
from netcarlo.kernels.wifi.layout import NOBODY, Flow, Leg, Link, Node, Radio, Rate, WifiRows
from netcarlo.transport import NS
from netcarlo.udp import Datagrams, Udp
from netcarlo.wireless import RATE_CONTROLS, Wireless
from netcarlo.wireless import Flow as FlowSpec
from netcarlo.wireless import Leg as LegSpec

SWING_BITS = 20

GATEWAY = -1
"""The gateway as the end of a flow: its number differs between rows."""


class End(NamedTuple):
    """A flow of the scenario: its ends are station numbers or GATEWAY; `name` is where its fields are."""

    name: str
    source: int
    sink: int
    spec: FlowSpec


def flows(wireless: Wireless) -> list[End]:
    """The flows of a network with as many stations as there can be."""
    if isinstance(wireless.flows, list):
        return [
            End(f"wireless.flows.{k}", _number(flow.source), _number(flow.sink), flow)
            for k, flow in enumerate(wireless.flows)
        ]
    sources = range(1 if wireless.chain else wireless.most_stations)
    up = [(k, GATEWAY) for k in sources] if wireless.flows in ("up", "both") else []
    down = [(GATEWAY, k) for k in sources] if wireless.flows in ("down", "both") else []
    return [End("transport", *ends, FlowSpec()) for ends in [*up, *down]]


def _number(end: Any) -> int:
    return GATEWAY if end == "gateway" else int(end)


def build(
    wireless: Wireless, transport: Any, draws: Draws, parameters: Ints, *, constants: Floats, warm_up: Ints
) -> WifiRows:
    """Rows [n]; `parameters` [n, len(P)] are those of the transport, `warm_up` [n] is in ns."""
    net = geometry.network(wireless, draws)
    n = len(parameters)
    losses, links = _links(wireless, draws, net)
    legs = _Legs(wireless, draws, flows(wireless))
    paths, flow_table, flow_count = _flows(transport, wireless, draws, net, parameters, legs)
    rates = np.broadcast_to(wireless.rate_table(), (n, len(wireless.known_rates), len(Rate)))
    table = np.zeros((n, Radio.COLUMNS), np.int64)
    table[:, : len(P)] = parameters
    for column, values_ in _channel(wireless, draws).items():
        table[:, column] = values_
    table[:, Radio.NODES] = net.nodes
    table[:, Radio.FLOWS] = flow_count
    table[:, Radio.LINKS] = 2 * (net.nodes - 1)
    table[:, Radio.LEGS] = legs.table.shape[1]
    table[:, Radio.RATES] = len(wireless.known_rates)
    table[:, Radio.WARM_UP] = warm_up
    parts, at = [], 0
    for column, part in (
        (Radio.FLOWS_AT, flow_table), (Radio.LINKS_AT, links), (Radio.LEGS_AT, legs.table),
        (Radio.RATES_AT, rates), (Radio.PATHS_AT, paths),
    ):  # fmt: skip
        flat = part.reshape(n, -1)
        table[:, column] = at
        parts.append(flat)
        at += flat.shape[1]
    nodes = _nodes(wireless, draws, net)
    return WifiRows(table, constants, nodes, np.concatenate(parts, axis=1), losses)


def _channel(wireless: Wireless, draws: Draws) -> dict[Radio, Any]:
    """The columns that are the same for all nodes."""
    slot = draws.whole("wireless.slot", wireless.slot, NS)
    sifs = draws.whole("wireless.sifs", wireless.sifs, NS)
    ack = dot11.acknowledgement(wireless.standard, short_preamble=wireless.preamble == "short")
    eifs = draws.either("wireless.eifs", wireless.eifs, (2 * sifs + ack + 2 * slot) / NS)
    threshold = draws.room("wireless.rts_threshold", wireless.rts_threshold, unlimited=1 << 30)
    interval = wireless.best_interval
    counts = {
        Radio.CW_MIN: "cw_min", Radio.CW_MAX: "cw_max", Radio.SHORT_RETRY: "short_retry",
        Radio.LONG_RETRY: "long_retry", Radio.BURST: "burst", Radio.MAC_OVERHEAD: "mac_overhead",
        Radio.ARF_UP: "arf_up", Radio.ARF_DOWN: "arf_down", Radio.ARF_TIMER: "arf_timer",
        Radio.AARF_FACTOR: "aarf_factor", Radio.AARF_MOST: "aarf_most",
    }  # fmt: skip
    protection = wireless.protection
    return {
        **{
            column: draws.whole(f"wireless.{name}", getattr(wireless, name))
            for column, name in counts.items()
        },
        Radio.SLOT: slot,
        Radio.SIFS: sifs,
        Radio.EIFS: np.rint(eifs * NS),
        Radio.RTS_THRESHOLD: threshold,
        Radio.PROTECTION: NOBODY if protection is None else wireless.rate_index(protection),
        Radio.RATE_CONTROL: RATE_CONTROLS[wireless.rate_control],
        Radio.BACK_PRESSURE: int(wireless.back_pressure),
        Radio.BIN: 0 if interval is None else draws.whole("wireless.best_interval", interval, NS),
    }


def _nodes(wireless: Wireless, draws: Draws, net: Network) -> Ints:
    """[n, N, len(Node)]."""
    n, most = net.parent.shape
    table = np.zeros((n, most, len(Node)), np.int64)
    present = np.arange(most) < net.nodes[:, None]
    table[:, :, Node.QUEUE] = np.where(present, draws.whole("wireless.queue", wireless.queue)[:, None], 0)
    bit = np.uint64(1) << np.arange(most, dtype=np.uint64)
    for column, name in (
        (Node.SENSE, "sense"), (Node.NEAR, "decode"), (Node.CONTROL, "control"),
        (Node.DISTURB_DATA, "disturb"), (Node.DISTURB_CONTROL, "disturb_control"),
    ):  # fmt: skip
        bits = np.where(net.masks[name], bit, np.uint64(0))
        table[:, :, column] = np.bitwise_or.reduce(bits, axis=2).view(np.int64)
    return table


def _links(wireless: Wireless, draws: Draws, net: Network) -> tuple[Any, Ints]:
    """The loss table, and links [n, 2 * stations, len(Link)]: 2 k is from station k on, 2 k + 1 to it."""
    n, most = net.parent.shape
    table = np.zeros((n, 2 * (most - 1), len(Link)), np.int64)
    rate = draws.floats("wireless.rate", wireless.rate)
    error = draws.floats("wireless.frame_error", wireless.frame_error)
    errors = np.zeros((n, most - 1))
    for k in range(most - 1):
        own, at = wireless.link(k), f"wireless.each.{k}"
        errors[:, k] = draws.either(f"{at}.frame_error", own.frame_error, error)
        row = _rate_rows(wireless, draws.either(f"{at}.rate", own.rate, rate))
        for link, (start, end) in ((2 * k, (k, net.parent[:, k])), (2 * k + 1, (net.parent[:, k], k))):
            table[:, link, Link.FROM], table[:, link, Link.TO], table[:, link, Link.RATE] = start, end, row
    probabilities, row = np.unique(errors, return_inverse=True)
    table[:, :, Link.LOSS] = np.repeat(row.reshape(n, most - 1), 2, axis=1)
    absent = np.arange(2 * (most - 1)) >= 2 * (net.nodes - 1)[:, None]
    table[absent] = 0
    return thresholds(probabilities), table


def _rate_rows(wireless: Wireless, rate: Floats) -> Ints:
    """The rows of rates [n] in the table.  Raises InputError for a rate that is not in it."""
    known = {float(value): wireless.rate_index(float(value)) for value in np.unique(rate)}
    return np.array([known[value] for value in rate.tolist()], np.int64)


class _Legs:
    """The legs of a scenario, and which of them a flow passes.

    All flows share the two of the wire; each has a sender's and a receiver's of its own.
    """

    def __init__(self, wireless: Wireless, draws: Draws, ends: list[End]) -> None:
        self.wireless = wireless
        self.columns: list[Ints] = []
        self.out = self.back = NOBODY  # the wire, from the gateway and to it
        if wireless.wire is not None:
            leg = _leg(wireless.wire, "wireless.wire", draws)
            self.out, self.back = self._add(leg), self._add(leg)
        self.sender, self.receiver = NOBODY, NOBODY
        self.before = [NOBODY] * len(ends)
        self.after = [NOBODY] * len(ends)
        for f, _ in enumerate(ends):
            if wireless.sender_delay is not None:
                self.before[f] = self._add(_leg(wireless.sender_delay, "wireless.sender_delay", draws))
            if wireless.receiver is not None:
                self.after[f] = self._add(_leg(wireless.receiver, "wireless.receiver", draws))
        n = len(draws.replications)
        self.table = np.stack(self.columns, axis=1) if self.columns else np.zeros((n, 0, len(Leg)), np.int64)

    def _add(self, leg: Ints) -> int:
        self.columns.append(leg)
        return len(self.columns) - 1

    def of(self, flow: int, end: End) -> dict[Flow, int]:
        """The legs of a flow, by column."""
        found = {
            Flow.BEFORE: self.before[flow], Flow.AFTER: self.after[flow],
            Flow.ACK_BEFORE: NOBODY, Flow.ACK_AFTER: NOBODY,
        }  # fmt: skip
        if end.sink == GATEWAY and self.out != NOBODY:
            found |= {Flow.AFTER: self.out, Flow.ACK_BEFORE: self.back}
        if end.source == GATEWAY and self.out != NOBODY:
            found |= {Flow.BEFORE: self.back, Flow.ACK_AFTER: self.out}
        return found


def _leg(leg: LegSpec, name: str, draws: Draws) -> Ints:
    """[n, len(Leg)]."""
    table = np.zeros((len(draws.replications), len(Leg)), np.int64)
    rate = draws.floats(f"{name}.rate", leg.rate)
    table[:, Leg.BYTE_TIME] = np.rint(8e9 * 2**BYTE_TIME_BITS / rate)
    table[:, Leg.OVERHEAD] = draws.whole(f"{name}.overhead", leg.overhead)
    table[:, Leg.PACKET_TIME] = draws.whole(f"{name}.packet_time", leg.packet_time, NS)
    table[:, Leg.DELAY] = draws.whole(f"{name}.delay", leg.delay, NS)
    table[:, Leg.TICK] = draws.whole(f"{name}.tick", leg.tick, NS)
    if leg.phase is None:
        table[:, Leg.PHASE] = table[:, Leg.TICK] * draws.uniform(f"{name}.phase")
    else:
        table[:, Leg.PHASE] = draws.whole(f"{name}.phase", leg.phase, NS)
    table[:, Leg.ROOM] = draws.whole(f"{name}.queue", leg.queue)
    table[:, Leg.SWING] = draws.whole(f"{name}.swing", leg.swing, 2**SWING_BITS)
    table[:, Leg.SWING_EVERY] = draws.whole(f"{name}.swing_every", leg.swing_every, NS)
    return table


def _flows(
    transport: Any, wireless: Wireless, draws: Draws, net: Network, parameters: Ints, legs: _Legs
) -> tuple[Ints, Ints, Ints]:
    """Paths [n, W], flows [n, F, len(Flow)], and how many there are [n]."""
    ends = flows(wireless)
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
        table = _traffic(transport, wireless, draws, parameters, end, f)
        for column, value in legs.of(f, end).items():
            table[:, column] = value
        found.append(table)
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
    table = np.stack(found, axis=1)
    order = np.argsort(~present, axis=1, kind="stable")
    table = np.take_along_axis(table, order[:, :, None], axis=1)
    count = present.sum(axis=1)
    table[np.arange(len(ends)) >= count[:, None]] = 0
    return paths.reshape(n, -1), table, count


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
    """What a flow sends: [n, len(Flow)] without its way."""
    n, spec = len(parameters), end.spec
    table = np.zeros((n, len(Flow)), np.int64)
    udp: Datagrams | None = spec.udp or (transport if isinstance(transport, Udp) else None)
    table[:, Flow.SIZE], table[:, Flow.HEADER] = parameters[:, P.DATA], parameters[:, P.HEADER]
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


def row_bytes(wireless: Wireless) -> int:
    """Memory of one row while it is made."""
    most = wireless.most_stations + 1
    return 8 * (Radio.COLUMNS + 12 * most * most + len(flows(wireless)) * (len(Flow) + 4 * most))


def concatenate(parts: Sequence[WifiRows]) -> WifiRows:
    """The rows of several ensembles one after the other."""
    most = max(part.nodes.shape[1] for part in parts)
    width = max(part.network.shape[1] for part in parts)
    n_constants = max(part.constants.shape[1] for part in parts)
    losses, row = np.unique(np.concatenate([part.losses for part in parts]), axis=0, return_inverse=True)
    offsets = np.cumsum([0] + [len(part.losses) for part in parts])
    nodes, networks, constants = [], [], []
    for part, offset in zip(parts, offsets, strict=False):
        network = part.network.copy()
        links = part.parameters[:, Radio.LINKS]
        k = np.arange(int(links.max(initial=0)))
        at = part.parameters[:, Radio.LINKS_AT, None] + k * len(Link) + Link.LOSS
        i, j = np.nonzero(k < links[:, None])
        network[i, at[i, j]] = row.reshape(-1)[network[i, at[i, j]] + offset]
        networks.append(np.pad(network, [(0, 0), (0, width - network.shape[1])]))
        nodes.append(np.pad(part.nodes, [(0, 0), (0, most - part.nodes.shape[1]), (0, 0)]))
        constants.append(np.pad(part.constants, [(0, 0), (0, n_constants - part.constants.shape[1])]))
    return WifiRows(
        np.concatenate([part.parameters for part in parts]), np.concatenate(constants),
        np.concatenate(nodes), np.concatenate(networks), losses,
    )  # fmt: skip
