"""Construction of rows of the 802.11 engine."""

import math
from typing import Any

import numpy as np

from netcarlo.kernels.base.delays import MOST_CLASSES, DelayOut
from netcarlo.kernels.base.layout import BYTE_TIME_BITS, FOREVER, NS
from netcarlo.kernels.base.loss import probabilities, thresholds
from netcarlo.kernels.base.parameters import P, ReliableP, RowP
from netcarlo.kernels.shared.layout import PERIOD
from netcarlo.kernels.wireless.layout import (
    NOBODY,
    Flow,
    FlowOut,
    Leg,
    Link,
    Node,
    NodeOut,
    Radio,
    Rate,
    WifiRows,
)
from netcarlo.networks import arrivals
from netcarlo.networks.queue_limits import drawn, of_frames
from netcarlo.networks.run import PACKET
from netcarlo.networks.wireless import dot11, edca, geometry, modes, outages
from netcarlo.networks.wireless import flows as wifi_flows
from netcarlo.networks.wireless.channel_time import air_ns, packet_ns
from netcarlo.networks.wireless.description import RATE_CONTROLS, Wireless
from netcarlo.networks.wireless.geometry import Network
from netcarlo.numerics import portable
from netcarlo.numerics.arrays import Floats, Ints
from netcarlo.schema.draws import Draws


def build(
    wireless: Wireless, transport: Any, draws: Draws, parameters: Ints, *, constants: Floats, warm_up: Ints
) -> WifiRows:
    """Build rows [n]; `parameters` [n, len(P)] are those of the transport, `warm_up` [n] is in ns."""
    net = geometry.network(wireless, draws)
    n = len(parameters)
    losses, links, errors = _links(wireless, draws, net, parameters[:, PACKET].sum(axis=1))
    ends = wifi_flows.flows(wireless, draws, net)
    own = wifi_flows.transports(transport, draws, parameters, ends)
    legs, passed = wifi_flows.legs(wireless, transport, draws, ends, own)
    flows, transports, count, paths, stations = wifi_flows.table(
        wireless, transport, draws, net, ends=ends, own=own, legs=passed
    )
    if wireless.classes:
        flows[flows[:, :, Flow.CLASS] > 0, Flow.PERIODS] = len(losses)
        losses = np.concatenate([losses, thresholds([PERIOD])])
        constants = arrivals.fill(
            flows, Flow.PERIODS, draws, wireless.classes, constants=constants, places=stations
        )
    if wireless.has_mixed_tcps(transport):
        parameters[:, RowP.WINDOW] = transports[:, :, RowP.WINDOW].max(axis=1)
    else:
        transports = transports[:, :0]
    rates = np.broadcast_to(wireless.rate_table(), (n, len(wireless.known_rates), len(Rate)))
    table = np.zeros((n, Radio.COLUMNS), np.int64)
    table[:, : len(P)] = parameters
    for column, values_ in _channel(wireless, draws).items():
        table[:, column] = values_
    table[:, Radio.NODES] = net.nodes
    table[:, Radio.FLOWS] = count
    table[:, Radio.LINKS] = 2 * (net.nodes - 1)
    table[:, Radio.LEGS] = legs.shape[1]
    table[:, Radio.RATES] = len(wireless.known_rates)
    table[:, Radio.WARM_UP] = warm_up
    table[:, Radio.ARRIVAL_CLASSES] = len(wireless.classes)
    table[:, Radio.DELAY_CLASSES] = len(wireless.class_names(transport))
    pairs = outages.times(wireless.outages, draws, parameters)
    table[:, Radio.OUTAGES] = (pairs[:, :, 0] < FOREVER).sum(axis=1)
    pairs = np.minimum(pairs, parameters[:, RowP.END, None, None] + 1)
    parts, at = [], 0
    functions = agreements = hops = np.zeros((n, 0), np.int64)
    if wireless.has_edca:
        access = edca.build(wireless, draws, flows, links, paths, table)
        functions, agreements, hops = access.functions, access.agreements, access.hops
        for radio, values_ in access.columns.items():
            table[:, radio] = values_
    places: tuple[tuple[Radio | None, Ints], ...] = (
        (Radio.FLOWS_AT, flows), (Radio.LINKS_AT, links), (Radio.LEGS_AT, legs),
        (Radio.RATES_AT, rates), (Radio.TRANSPORTS_AT, transports), (Radio.OUTAGES_AT, pairs),
        (Radio.FUNCTIONS_AT, functions), (Radio.AGREEMENTS_AT, agreements), (Radio.PATHS_AT, paths),
        (None, hops), (Radio.ERRORS_AT, errors),
    )  # fmt: skip
    for begin, part in places:
        flat = part.reshape(n, -1)
        if begin is not None:
            table[:, begin] = at
        parts.append(flat)
        at += flat.shape[1]
    nodes = _nodes(wireless, draws, net, parameters[:, PACKET].sum(axis=1))
    if wireless.has_edca:
        edca.fill_nodes(nodes, access.functions, table[:, Radio.FUNCTIONS])
    return WifiRows(table, constants, nodes, np.concatenate(parts, axis=1), losses)


def _channel(wireless: Wireless, draws: Draws) -> dict[Radio, Any]:
    """Return the columns that are equal for all nodes."""
    found: dict[Radio, Any] = draws.columns(wireless, "wireless")
    slot, sifs = found[Radio.SLOT], found[Radio.SIFS]
    if wireless.has_edca:
        usual = edca.eifs_ns(wireless, sifs)
    else:
        ack = dot11.acknowledgement(wireless.standard, short_preamble=wireless.preamble == "short")
        usual = 2 * sifs + ack + 2 * slot
    eifs = draws.either("wireless.eifs", wireless.eifs, usual / NS)
    threshold = draws.room("wireless.rts_threshold", wireless.rts_threshold, unlimited=1 << 30)
    interval = wireless.best_interval
    burst = found[Radio.BURST].astype(float)
    gateway_burst = draws.either("wireless.gateway_burst", wireless.gateway_burst, burst)
    protection = wireless.protection
    return found | {
        Radio.GATEWAY_BURST: np.rint(gateway_burst),
        Radio.EIFS: np.rint(eifs * NS),
        Radio.RTS_THRESHOLD: threshold,
        Radio.PROTECTION: NOBODY if protection is None else wireless.rate_index(protection),
        Radio.RATE_CONTROL: RATE_CONTROLS[wireless.rate_control],
        Radio.BACK_PRESSURE: int(wireless.back_pressure),
        Radio.BIN: 0 if interval is None else draws.whole("wireless.best_interval", interval, NS),
    }


def _nodes(wireless: Wireless, draws: Draws, net: Network, packet: Ints) -> Ints:
    """Return the nodes [n, N, len(Node)]; `packet` is the size of a data packet [n] [byte]."""
    n, most = net.parent.shape
    table = np.zeros((n, most, len(Node)), np.int64)
    present = np.arange(most) < net.nodes[:, None]
    limit = of_frames(drawn(draws, "wireless.queue", wireless.queue), packet, draws)
    table[:, :, Node.QUEUE] = np.where(present, limit[:, None], 0)
    bit = np.uint64(1) << np.arange(most, dtype=np.uint64)
    for column, name in (
        (Node.SENSE, "sense"), (Node.NEAR, "decode"), (Node.CONTROL, "control"),
        (Node.DISTURB_DATA, "disturb"), (Node.DISTURB_CONTROL, "disturb_control"),
    ):  # fmt: skip
        bits = np.where(net.masks[name], bit, np.uint64(0))
        table[:, :, column] = np.bitwise_or.reduce(bits, axis=2).view(np.int64)
    return table


def _links(wireless: Wireless, draws: Draws, net: Network, packet: Ints) -> tuple[Any, Ints, Ints]:
    """Return the loss table, links [n, 2 * stations, len(Link)], and their losses by rate for EDCA with rate
    control (`Radio.ERRORS_AT`).

    Link 2 k starts at station k, link 2 k + 1 ends there. `packet` is the size of a data packet [n] [byte].
    """
    n, most = net.parent.shape
    table = np.zeros((n, 2 * (most - 1), len(Link)), np.int64)
    for k in range(most - 1):
        for link, (start, end) in ((2 * k, (k, net.parent[:, k])), (2 * k + 1, (net.parent[:, k], k))):
            table[:, link, Link.FROM], table[:, link, Link.TO] = start, end
    errors = _errors(wireless, draws, most - 1)
    if wireless.has_edca:
        noise, by_rate = modes.fill(wireless, draws, table, net.received_dbm, packet)
        by_rate = errors[:, :, None] + (1 - errors)[:, :, None] * by_rate
        errors = errors + (1 - errors) * noise
    else:
        by_rate = np.zeros((n, 0, 0))
        _fill_rates(wireless, draws, table)
    chances = np.column_stack([errors, _per_microsecond(wireless, draws)])
    distinct, loss = np.unique(chances, return_inverse=True)
    loss = loss.reshape(n, -1)
    table[:, :, Link.LOSS] = loss[:, :-1]
    table[:, :, Link.FRAGILITY] = np.where(chances[:, -1:] < 1, 1 + loss[:, -1:], 0)
    absent = np.arange(2 * (most - 1)) >= 2 * (net.nodes - 1)[:, None]
    table[absent] = 0
    return thresholds(distinct), table, np.rint(by_rate * 2.0**32).astype(np.int64)


def _errors(wireless: Wireless, draws: Draws, stations: int) -> Floats:
    """Return the frame error probability of each link [n, 2 * stations]."""
    every = draws.floats("wireless.frame_error", wireless.frame_error)
    each = [error for k in range(stations) for error in modes.own(wireless, draws, k, "frame_error", every)]
    return np.stack(each, axis=1)


def _per_microsecond(wireless: Wireless, draws: Draws) -> Floats:
    """Return the probability [n] that a microsecond of interference destroys a data frame."""
    survival = draws.floats("wireless.survival", wireless.survival)
    halvings = 1e-6 / np.maximum(survival, 1e-9) / math.log(2)
    return np.asarray(np.where(survival > 0, 1 - portable.exp2(-halvings), 1.0))


def _fill_rates(wireless: Wireless, draws: Draws, table: Ints) -> None:
    """Fill in the rates of the links [n, 2 * stations, len(Link)] by row of the rate table."""
    assert wireless.rate is not None
    every = draws.floats("wireless.rate", wireless.rate)
    table[:, :, Link.HIGHEST] = len(wireless.known_rates) - 1
    for k in range(table.shape[1] // 2):
        for link, rate in enumerate(modes.own(wireless, draws, k, "rate", every), 2 * k):
            table[:, link, Link.RATE] = _rate_rows(wireless, rate)


def _rate_rows(wireless: Wireless, rate: Floats) -> Ints:
    """Return the rows of rates [n] in the rate table. Raises InputError for a rate that is not in it."""
    known = {float(value): wireless.rate_index(float(value)) for value in np.unique(rate)}
    return np.array([known[value] for value in rate.tolist()], np.int64)


def features(wireless: Wireless, draws: Draws, rows: WifiRows) -> dict[str, Floats]:
    """Return features of the route of the first flow, see `ensemble.features`."""
    p, net, each = rows.parameters, rows.network, np.arange(len(rows.parameters))
    flow = net[:, : len(Flow)]  # FLOWS_AT is 0
    hops, errors = flow[:, Flow.FORTH], probabilities(rows.losses)
    packet = (flow[:, Flow.SIZE] + flow[:, Flow.HEADER]).astype(np.float64)
    channel_ns, rtt_ns, survive = (np.zeros(len(p)), np.zeros(len(p)), np.ones(len(p)))
    gap = p[:, Radio.SIFS] + 2 * p[:, Radio.SLOT]
    for k in range(int(hops.max(initial=0))):
        link = net[each, p[:, Radio.PATHS_AT] + flow[:, Flow.FORTH_AT] + np.where(k < hops, k, 0)]
        at = p[:, Radio.LINKS_AT] + link * len(Link)
        rate = p[:, Radio.RATES_AT] + net[each, at + Link.RATE] * len(Rate)
        ack_ns = gap + air_ns(net, rate, p[:, ReliableP.ACK] + p[:, Radio.MAC_OVERHEAD])
        data_ns = gap + air_ns(net, rate, packet + p[:, Radio.MAC_OVERHEAD])
        busy = packet_ns(rows, flow, np.where(k < hops, k, 0), net[each, at + Link.RATE])
        channel_ns = np.maximum(channel_ns, np.where(k < hops, busy, 0))
        rtt_ns += np.where(k < hops, data_ns + np.where(flow[:, Flow.TCP] == 1, ack_ns, 0), 0)
        survive *= np.where(k < hops, 1 - errors[net[each, at + Link.LOSS]], 1)
    for column in (Flow.BEFORE, Flow.AFTER, Flow.ACK_BEFORE, Flow.ACK_AFTER):
        data = column in (Flow.BEFORE, Flow.AFTER)
        time = _leg_ns(rows, flow[:, column], packet if data else p[:, ReliableP.ACK])
        rtt_ns += np.where(data | (flow[:, Flow.TCP] == 1), time, 0)
    bottleneck = 8e9 * packet / channel_ns
    return {
        "n_hops": hops.astype(np.float64),
        "bottleneck_bps": bottleneck,
        "base_rtt_s": rtt_ns / NS,
        "path_loss": 1 - survive,
        "bdp_packets": rtt_ns / channel_ns,
    }


def _leg_ns(rows: WifiRows, leg: Ints, size: Floats | Ints) -> Floats:
    """Return the time [ns] of a single packet of `size` bytes [n] in a leg [n], which may be NOBODY."""
    at = rows.parameters[:, Radio.LEGS_AT] + np.maximum(leg, 0) * len(Leg)
    value = {column: rows.network[np.arange(len(leg)), at + column] for column in Leg}
    service = (size + value[Leg.OVERHEAD]) * value[Leg.BYTE_TIME] / 2**BYTE_TIME_BITS
    time = service + value[Leg.PACKET_TIME] + value[Leg.DELAY] + value[Leg.TICK] / 2
    return np.where(leg == NOBODY, 0.0, time)


def row_bytes(wireless: Wireless) -> int:
    """Return the memory of one row and its outcomes [byte]."""
    most, flows = wireless.most_stations + 1, wireless.flow_bounds[1]
    outcomes = flows * FlowOut.COLUMNS + most * NodeOut.COLUMNS
    outcomes += len(wireless.classes) * arrivals.WORDS
    outcomes += MOST_CLASSES * DelayOut.COLUMNS if wireless.asks_for_delays else 0
    flow = len(Flow) + 4 * most + (len(P) if wireless.has_own_tcps or wireless.classes else 0)
    pairs = outages.most_pairs(wireless.outages)
    return 8 * (Radio.COLUMNS + 12 * most * most + flows * flow + 2 * pairs + outcomes)
