"""Construction of rows of paths: from the records of a scenario to arrays."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from netcarlo.kernels.base.layout import (
    BYTE_TIME_BITS,
    FOREVER,
    LOSSES,
    MPTCP_PATHS,
    NS,
    PATHS,
    WITH_SUBFLOWS,
    Hop,
    Messages,
    Rows,
)
from netcarlo.kernels.base.loss import thresholds
from netcarlo.kernels.base.parameters import MobileP, MptcpP, ReliableP, RowP, SctpP
from netcarlo.networks import outages, rare
from netcarlo.networks.flows import late_ns
from netcarlo.networks.outages import OnOff, alternating
from netcarlo.networks.path.bursts import Losses, losses
from netcarlo.networks.path.description import (
    MAX_HOPS,
    CrossTraffic,
    Hops,
    HopSpec,
    Route,
    every_hop,
    most_hops,
)
from netcarlo.networks.path.mobility import Mobility
from netcarlo.networks.path.varying import Tables, most_pairs, placed, tables
from netcarlo.networks.queue_limits import Limit, counted, drawn
from netcarlo.networks.rare import RareOutages
from netcarlo.networks.run import PACKET, Run, at_random_moments, constants, parameters
from netcarlo.numerics.arrays import Floats, Ints
from netcarlo.schema.draws import Draws
from netcarlo.schema.points import WORDS
from netcarlo.schema.quantity import Number, bounds
from netcarlo.transport.classed import delay_field

_NEVER = 2.0**60  # an interval [ns] longer than any run


def build(routes: list[Route], mobility: Mobility | None, run: Run, draws: Draws) -> Rows:
    """Build rows [n] of a transport over these paths, to a mobile or a fixed host."""
    table = parameters(run, draws)
    if run.transport.datagrams:
        at_random_moments(table, draws)
    table[:, SctpP.N_PATHS] = len(routes)
    by_packets = getattr(run, "fidelity", "packet") == "packet"
    table[:, RowP.QUEUES] = run.transport.queues_measured and mobility is None and by_packets
    if run.transport.subflows:
        table[:, RowP.QUEUES] = WITH_SUBFLOWS
        table[:, MptcpP.BACKUP] = sum(1 << k for k, route in enumerate(routes) if route.backup)
    if delay_field(run.transport):
        table[:, RowP.LATE] = late_ns(run.transport, "transport", draws)
    values = constants(run, draws)
    if messages := run.transport.given("messages"):
        points = messages.fill(table, draws, at=values.shape[1])
        values = np.concatenate([values, points], axis=1)
    paths = [slots_of(route, f"paths.{i}", draws, table) for i, route in enumerate(routes)]
    if mobility is not None:
        paths[0][-1] = _moving(mobility, paths[0][-1], table, draws)
    width = MPTCP_PATHS if run.transport.subflows else PATHS
    return Rows(table, values, *arrays(paths, draws, table, width=width))


class Slot(NamedTuple):
    """One hop of the YAML file for all replications; `present` [n] marks those that have it."""

    present: NDArray[np.bool_]
    columns: dict[Hop, Ints]
    limits: tuple[Limit, Limit]  # of the queues for data and for acknowledgements
    losses: tuple[Losses, Losses]  # of data and of acknowledgements
    outages: Ints  # [n, K, 2]
    up_down: Ints  # mean up and down times [n, 2] [ns]; 0, 0 if outages are given
    varies: Tables


def _moving(mobility: Mobility, radio: Slot, parameters: Ints, draws: Draws) -> Slot:
    """Fill in the parameters of a mobile host. Returns the radio hop with the given times as its outages."""
    for column, values in mobility.parameters(draws, parameters[:, RowP.END]).items():
        parameters[:, column] = values
    if mobility.signalling_loss:
        parameters[:, MobileP.SIGNAL_LOSS] = np.rint(radio.losses[0].mean * 2.0**32)
    times = mobility.given_times(draws)
    return radio._replace(outages=np.stack([times, times], axis=2))


def slots_of(route: Route, name: str, draws: Draws, parameters: Ints) -> list[Slot]:
    """Return the hops of a path whose field is `name`; `parameters` are those of the rows."""
    sizes = _packet(parameters), parameters[:, ReliableP.ACK]
    end = parameters[:, RowP.END]
    slots = [_slot(hop, at, draws, present, sizes, end) for hop, at, present in each_hop(route, name, draws)]
    _fill_queues(slots, draws, parameters)
    return slots


def _fill_queues(slots: list[Slot], draws: Draws, parameters: Ints) -> None:
    """Set the queue limits of the hops of a path, all of whose data packets have one size."""
    data, ack = _packet(parameters), parameters[:, ReliableP.ACK]
    byte_time, rtt_ns = _base(slots, parameters)
    with np.errstate(divide="ignore", invalid="ignore"):
        bdp = np.where(byte_time > 0, rtt_ns * 2**BYTE_TIME_BITS / byte_time, 0.0)
    for slot in slots:
        for back, (limit, size) in enumerate(zip(slot.limits, (data, ack), strict=True)):
            column, rate = (Hop.R_QUEUE, Hop.R_BYTE_TIME) if back else (Hop.QUEUE, Hop.BYTE_TIME)
            held = limit.bytes(slot.columns[rate], bdp)
            slot.columns[column] = counted(limit, held, size, draws, back=bool(back))


def _packet(parameters: Ints) -> Ints:
    """Return the size of a data packet [n] [byte]."""
    return np.asarray(parameters[:, PACKET].sum(axis=1))


def _base(slots: list[Slot], parameters: Ints) -> tuple[Floats, Floats]:
    """Return the longest byte time of a path [n] [as `Hop.BYTE_TIME`], and its round-trip time [n] [ns]
    without queues."""
    packet, n = _packet(parameters), len(parameters)
    byte_time, rtt_ns = np.zeros(n), np.zeros(n)
    for slot in slots:
        data, ack = slot.columns[Hop.BYTE_TIME], slot.columns[Hop.R_BYTE_TIME]
        wire_ns = (packet * data + parameters[:, ReliableP.ACK] * ack) / 2**BYTE_TIME_BITS
        byte_time = np.maximum(byte_time, np.where(slot.present, data, 0))
        rtt_ns += np.where(slot.present, wire_ns + slot.columns[Hop.DELAY] + slot.columns[Hop.R_DELAY], 0)
    return byte_time, rtt_ns


def each_hop(route: Route, name: str, draws: Draws) -> Iterator[tuple[HopSpec, str, NDArray[np.bool_]]]:
    """Yield the hops of a path whose field is `name`, with their own fields and the rows [n] that have
    them."""
    for i, hop in enumerate(route.hops):
        at = f"{name}.hops.{i}"
        if isinstance(hop, Hops):
            count = draws.whole(f"{at}.count", hop.count)
            for k in range(int(count.max(initial=0))):
                yield hop.each, f"{at}.each.{k}", count > k
        else:
            yield hop, at, np.ones(len(draws.replications), bool)


def _slot(
    hop: HopSpec, name: str, draws: Draws, present: NDArray[np.bool_], sizes: tuple[Ints, Ints], end: Ints
) -> Slot:  # fmt: skip
    """Return a hop for data packets and ACKs of these `sizes` [n] [byte], in runs that end at `end` [n]
    [ns]."""
    columns: dict[Hop, Ints] = {}
    for prefix, spec, byte_time, delay in (
        ("", hop, Hop.BYTE_TIME, Hop.DELAY),
        (".reverse", hop.reverse, Hop.R_BYTE_TIME, Hop.R_DELAY),
    ):
        at = name + prefix
        if spec.rate is not None:
            rate = draws.floats(f"{at}.rate", spec.rate)
            columns[byte_time] = np.rint(8e9 * 2**BYTE_TIME_BITS / rate).astype(np.int64)
        if spec.delay is not None:
            columns[delay] = draws.whole(f"{at}.delay", spec.delay, NS)
    for back, forth in ((Hop.R_BYTE_TIME, Hop.BYTE_TIME), (Hop.R_DELAY, Hop.DELAY)):
        columns.setdefault(back, columns[forth])
    limit = drawn(draws, f"{name}.queue", hop.queue)
    other = hop.reverse.queue
    limits = limit, limit if other is None else drawn(draws, f"{name}.reverse.queue", other)
    if hop.shaper is not None:
        burst = draws.floats(f"{name}.shaper.burst", hop.shaper.burst)
        limits = limit._replace(burst=burst), limits[1]
    varies = tables(hop, name, draws, columns, sizes)
    if hop.cross_traffic is not None:
        columns |= _cross_traffic(hop.cross_traffic, f"{name}.cross_traffic", draws)
    if hop.tick is not None:
        tick = columns[Hop.TICK] = draws.whole(f"{name}.tick", hop.tick, NS)
        phase = tick * draws.uniform(f"{name}.tick_phase")
        if hop.tick_phase is not None:
            phase = draws.floats(f"{name}.tick_phase", hop.tick_phase) * NS
        columns[Hop.TICK_PHASE] = np.rint(phase).astype(np.int64)
    lossy = (
        losses(f"{name}.loss", hop.loss, hop.bursts, draws, elsewhere=hop.loss_correlation is not None),
        losses(
            f"{name}.ack_loss", hop.ack_loss, hop.ack_bursts, draws,
            elsewhere=hop.ack_loss_correlation is not None,
        ),
    )  # fmt: skip
    for direction, of in enumerate(lossy):
        columns[Hop(Hop.CHANCES + direction)], columns[Hop(Hop.BURST_CHANCES + direction)] = of.chances
    up_down = np.zeros((len(present), 2), np.int64)
    if isinstance(hop.outages, OnOff):
        given, up_down = outages.given([], name, draws), outages.means(hop.outages, name, draws)
    elif isinstance(hop.outages, RareOutages):
        given = outages.from_start(rare.times(hop.outages, name, draws, end))
    else:
        given = outages.given(hop.outages, name, draws)
    return Slot(present, columns, limits, lossy, given, up_down, varies)


def _cross_traffic(traffic: CrossTraffic, name: str, draws: Draws) -> dict[Hop, Ints]:
    """Return the columns of cross traffic, except the time of the first packet."""
    rate, packet = draws.floats(f"{name}.rate", traffic.rate), draws.whole(f"{name}.packet", traffic.packet)
    with np.errstate(divide="ignore"):
        every = np.minimum(np.rint(8e9 * packet / rate), _NEVER)
    return {Hop.CROSS_EVERY: np.where(rate > 0, every, 0).astype(np.int64), Hop.CROSS_SIZE: packet}


def arrays(
    paths: list[list[Slot]], draws: Draws, parameters: Ints, *, width: int = PATHS
) -> tuple[Ints, Ints, NDArray[np.uint32]]:
    """Return hops [n, width, H, len(Hop)], outages [n, width, H, K, 2] and the loss table of the paths.

    The hops of a replication are stored without gaps. The first cross-traffic packet is sent at a random time
    in its first interval, drawn by the position of the hop on its path; so are the times of hops that
    alternate between up and down. `parameters` are those of the rows.
    """
    n = len(draws.replications)
    slots = [slot for path in paths for slot in path]
    happens = [[of.happens for of in slot.losses] for slot in slots]
    probabilities, row = np.unique(happens, return_inverse=True)
    row = row.reshape(len(slots), 2, 2, n)  # per slot: data and ACKs, outside and inside bursts
    n_hops = max(len(path) for path in paths)
    most = max(1, *(slot.outages.shape[1] for slot in slots))
    hops = np.zeros((n, width, n_hops, len(Hop)), np.int64)
    times = np.full((n, width, n_hops, most, 2), FOREVER, np.int64)
    means = np.zeros((n, width, n_hops, 2), np.int64)
    index = iter(range(len(slots)))
    places = []
    for number, path in enumerate(paths):
        position = np.zeros(n, np.int64)
        for slot in path:
            k = next(index)
            who = np.flatnonzero(slot.present)
            at = position[who]
            hops[who, number, at, Hop.PRESENT] = 1
            for column, values in slot.columns.items():
                hops[who, number, at, column] = values[who]
            hops[who[:, None], number, at[:, None], LOSSES] = row[k].transpose(1, 0, 2).reshape(4, n).T[who]
            times[who, number, at, : slot.outages.shape[1]] = slot.outages[who]
            means[who, number, at] = slot.up_down[who]
            places.append((who, number, at, slot.varies))
            position[who] += 1
    for number, at in np.argwhere(hops[..., Hop.CROSS_EVERY].any(axis=0)):
        phase = draws.uniform(f"paths.{number}.hops.{at}.cross_traffic")
        hops[:, number, at, Hop.CROSS_FIRST] = hops[:, number, at, Hop.CROSS_EVERY] * phase
    for number, at in np.argwhere(means[..., 1].any(axis=0)):
        up, down = means[:, number, at].T
        drawn = alternating(parameters, number * MAX_HOPS + at, up=up, down=down)
        missing = max(drawn.shape[1] - times.shape[3], 0)
        times = np.pad(times, [(0, 0)] * 3 + [(0, missing), (0, 0)], constant_values=FOREVER)
        random = down > 0
        times[random, number, at, : drawn.shape[1]] = drawn[random]
    return hops, placed(hops, times, places), thresholds(probabilities)


def row_bytes(routes: list[Route], mobility: Mobility | None, duration: Number, *, messages: bool) -> int:
    """Return the memory of hops, outages and messages of one row [byte]."""
    times = (mobility and mobility.times) or []
    most_s = bounds(duration)[1]
    pairs = max(1, len(times), *(outages.most_outages(hop.outages, most_s) for hop in every_hop(routes)))
    pairs += max(map(most_pairs, every_hop(routes)))
    most = max(sum(most_hops(hop) for hop in route.hops) for route in routes)
    of_messages = Messages.COLUMNS + 2 * WORDS if messages else 0
    return 8 * (max(PATHS, len(routes)) * most * (len(Hop) + 2 * pairs) + of_messages)


def features(routes: list[Route], mobility: Mobility | None, run: Run, draws: Draws) -> dict[str, Floats]:
    """Return features of the first path, see `ensemble.features`."""
    table = parameters(run, draws)
    slots = slots_of(routes[0], "paths.0", draws, table)
    packet = _packet(table)
    n = len(draws.replications)
    hops, survive = np.zeros(n), np.ones(n)
    byte_time, rtt_ns = _base(slots, table)
    for slot in slots:
        hops += slot.present
        survive *= np.where(slot.present, 1.0 - slot.losses[0].mean, 1.0)
    if mobility is not None:
        rtt_ns += 2 * mobility.parameters(draws, table[:, RowP.END])[MobileP.MAP_TO_AR]
    with np.errstate(divide="ignore"):
        bottleneck = 8e9 * 2**BYTE_TIME_BITS / byte_time
    return {
        "n_hops": hops, "bottleneck_bps": bottleneck, "base_rtt_s": rtt_ns / NS,
        "path_loss": 1.0 - survive, "bdp_packets": bottleneck * rtt_ns / NS / (8 * packet),
    }  # fmt: skip
