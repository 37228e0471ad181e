"""Random small networks with corner cases: ties, tiny queues, ACKs and data on one link, RED, silent
periods.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.random import Generator

from netcarlo.kernels.base.layout import BYTE_TIME_BITS, ENDLESS, FOREVER
from netcarlo.kernels.base.loss import thresholds
from netcarlo.kernels.base.parameters import P, RowP, SctpP
from netcarlo.kernels.base.varying import HEAD
from netcarlo.kernels.senders import ALONE, KINDS, LINUX_KINDS, LINUX_RENO, NEWRENO, UDP
from netcarlo.kernels.shared.layout import (
    CODEL,
    FIFO,
    FQ_CODEL,
    PERIOD,
    PIE,
    RED_DROPS,
    RED_MARKS,
    TABLE,
    Flow,
    Link,
    Shared,
    SharedRows,
    routes_of,
)
from tests.twins.path.scenarios import (
    MS,
    SECOND,
    make_linux,
    pick,
    sctp_parameters,
    sold,
    tcp_parameters,
    varying_pairs,
)

PROBABILITIES = (0.0, 1e-6, 0.003, 0.02, 0.1, 0.3, 1.0)
PERIODS = len(PROBABILITIES)
"""Row of the loss table for exponential times."""

Columns = dict[str, int]


class Net:
    """Network under construction; `row` converts it to a row."""

    def __init__(self, **columns: int) -> None:
        """Create a network; `columns` are those of `P` and `Shared`, by name."""
        self.columns = columns
        self.links: list[Columns] = []
        self.flows: list[tuple[Columns, Sequence[int], Sequence[int]]] = []

    def link(self, **columns: int) -> int:
        self.links.append({"ROOM": 64} | columns)
        return len(self.links) - 1

    def flow(self, *, route: Sequence[int], back: Sequence[int] = (), **columns: int) -> None:
        """Add a flow over links `route`, whose acknowledgements return over links `back`."""
        self.flows.append(({"STOP": FOREVER, "LIMIT": ENDLESS, "PERIODS": PERIODS} | columns, route, back))

    def row(self) -> SharedRows:
        parameters = np.zeros((1, Shared.COLUMNS), np.int64)
        _fill(parameters[0], self.columns, P, Shared)
        parameters[0, [Shared.FLOWS, Shared.LINKS]] = len(self.flows), len(self.links)
        links = np.zeros((1, len(self.links), Link.COLUMNS), np.int64)
        for line, columns in zip(links[0], self.links, strict=True):
            _fill(line, columns, Link)
        links_of_flows = max(len(route) + len(back) for _, route, back in self.flows)
        flows = np.zeros((1, len(self.flows), Flow.COLUMNS + links_of_flows), np.int64)
        for line, (columns, route, back) in zip(flows[0], self.flows, strict=True):
            _fill(line, columns | {"HOPS": len(route), "BACK_HOPS": len(back)}, P, Flow)
            line[Flow.COLUMNS : Flow.COLUMNS + len(route) + len(back)] = [*route, *back]
        return SharedRows(parameters, np.zeros((1, 0)), flows, links, thresholds([*PROBABILITIES, PERIOD]))


def _fill(line: Any, columns: Columns, *tables: Any) -> None:
    for name, value in columns.items():
        table = next(table for table in tables if name in table.__members__)
        line[table[name]] = value


def shared_rows(
    count: int, *, seed: int, kinds: Sequence[int] = range(len(KINDS)), one_way: bool = False
) -> SharedRows:
    """Return `count` networks whose flows are of these `kinds`; row k of a seed is the same for every
    `count`.

    With `one_way`, all data have the same route, and only its links and those of the ACKs are used.
    """
    return stack([_net(np.random.default_rng([seed, k, 5]), kinds, one_way).row() for k in range(count)])


def linux_shared_rows(count: int, *, seed: int, kinds: Sequence[int]) -> SharedRows:
    """Return random rows with current Linux among the `kinds`, often with large windows and deep queues."""
    rows = shared_rows(count, seed=seed, kinds=kinds)
    for k, flows in enumerate(rows.flows):
        rng = np.random.default_rng([seed, k, 8])
        for flow in flows:
            if flow[Flow.KIND] >= LINUX_RENO:
                make_linux(rng, flow)
                flow[Flow.ECN] = 0
        if rng.random() < 0.3:  # a queue that slow start overflows by far
            rows.links[k, :, Link.QUEUE] = rng.integers(20, 100)
    return rows


def managed_rows(rows: SharedRows, *, seed: int) -> SharedRows:
    """Return the same networks with active queue management on most links, and deeper queues."""
    links = rows.links.copy()
    for k, row in enumerate(links):
        rng = np.random.default_rng([seed, k, 9])
        for link in row[: rows.parameters[k, Shared.LINKS]]:
            if rng.random() < 0.8:
                link[Link.RED : Link.AQM] = 0
                _fill(link, _aqm(rng), Link)
    return rows._replace(links=links)


def varying_rows(rows: SharedRows, *, seed: int) -> SharedRows:
    """Return the same networks with traces, jitter and policers on half of their links."""
    found = {}
    for k, row in enumerate(rows.links):
        rng = np.random.default_rng([seed, k, 10])
        for number, link in enumerate(row[: rows.parameters[k, Shared.LINKS]]):
            if rng.random() < 0.5:
                end = int(rows.parameters[k, RowP.END])
                found[k, number] = varying_pairs(rng, link[Link.BYTE_TIME], link[Link.DELAY], end)
    longest = max(map(len, found.values()), default=0)
    links = np.pad(rows.links, [(0, 0), (0, 0), (0, 2 * longest)])
    for place, pairs in found.items():
        links[*place, Link.VARIES] = TABLE
        table = np.array(pairs) + np.array([FOREVER, 0])
        links[*place, Link.COLUMNS : Link.COLUMNS + table.size] = table.ravel()
    return rows._replace(links=links)


def sold_rows(rows: SharedRows, *, seed: int) -> SharedRows:
    """Return the same networks as `varying_rows`, with links as they are sold: framing, shapers, correlated
    loss."""
    rows, rng = varying_rows(rows, seed=seed), np.random.default_rng([seed, 11])
    for place in np.argwhere(rows.links[:, :, Link.VARIES] > 0).tolist():
        link = rows.links[*place]
        sold(link[Link.COLUMNS : Link.COLUMNS + 2 * HEAD].reshape(HEAD, 2), rng, link[Link.BYTE_TIME])
    return rows


def byte_limited_rows(rows: SharedRows, *, seed: int) -> SharedRows:
    """Return the same networks as `managed_rows`, where most limits are in bytes; some queues are FIFO."""
    rows = managed_rows(rows, seed=seed)
    for k, row in enumerate(rows.links):
        rng = np.random.default_rng([seed, k, 12])
        for link in row[: rows.parameters[k, Shared.LINKS]]:
            if rng.random() < 0.5:
                link[Link.RED : Link.COLUMNS] = 0
                link[Link.AQM] = FIFO
            if link[Link.AQM] != 0 and (link[Link.AQM] == FIFO or rng.random() < 0.7):
                link[Link.QUEUE] = -pick(rng, 1600, 3000, 10_000, 60_000)
    return rows


def gauged_rows(rows: SharedRows, *, seed: int) -> SharedRows:
    """Return the same networks with delay statistics of most flows, in up to three classes."""
    parameters, flows = rows.parameters.copy(), rows.flows.copy()
    for k, row in enumerate(flows):
        rng = np.random.default_rng([seed, k, 24])
        parameters[k, Shared.DELAY_CLASSES] = most = int(rng.integers(0, 4))
        for flow in row[: parameters[k, Shared.FLOWS]]:
            flow[Flow.DELAY_CLASS] = rng.integers(0, most + 1)
            flow[Flow.BOUND] = pick(rng, FOREVER, 1, rng.integers(0, 200 * MS))
    return rows._replace(parameters=parameters, flows=flows)


def failing_rows(rows: SharedRows, *, seed: int) -> SharedRows:
    """Return the same networks with outages of half of their links, some of them simultaneous."""
    links = np.pad(rows.links, [(0, 0), (0, 0), (0, 16)])
    behind = rows.links.shape[2]
    for k, row in enumerate(links):
        rng = np.random.default_rng([seed, k, 22])
        end, pairs = int(rows.parameters[k, RowP.END]), np.zeros((0, 2), np.int64)
        unit = pick(rng, 1, 1, MS, 10 * MS)  # on a lattice ties are common
        for link in row[: rows.parameters[k, Shared.LINKS]]:
            if rng.random() < 0.5 or link[Link.VARIES] > 0:
                continue
            if rng.random() < 0.7:
                times = np.unique(rng.integers(0, end // unit + 2, 2 * int(rng.integers(1, 9)))) * unit
                pairs = times[: 2 * (len(times) // 2)].reshape(-1, 2)
            link[Link.OUTAGES], link[Link.OUTAGES_END] = behind // 2, behind // 2 + len(pairs)
            link[behind : behind + pairs.size] = pairs.ravel()
    return rows._replace(links=links)


def backed_rows(rows: SharedRows, *, seed: int) -> SharedRows:
    """Return the same networks, in which half of the flows use the route of another flow from time to
    time.
    """
    most, at = 4, rows.flows.shape[2]
    flows = np.pad(rows.flows, [(0, 0), (0, 0), (0, 3 + at - Flow.COLUMNS + 2 * most)])
    for k, row in enumerate(flows):
        rng = np.random.default_rng([seed, k, 23])
        end, unit = int(rows.parameters[k, RowP.END]), pick(rng, 1, MS)
        here = row[: rows.parameters[k, Shared.FLOWS]]
        for flow in here:
            other = here[int(rng.integers(len(here)))]
            tcp = flow[Flow.KIND] != UDP
            lengths = other[[Flow.HOPS, Flow.BACK_HOPS]]
            if rng.random() < 0.5 or (tcp and lengths[1] == 0):
                continue
            times = np.unique(rng.integers(0, end // unit + 2, 2 * int(rng.integers(1, most + 1)))) * unit
            times = times[: 2 * (len(times) // 2)]
            routes = other[Flow.COLUMNS : Flow.COLUMNS + lengths.sum()]
            found = [*lengths, len(times) // 2, *routes, *times]
            flow[Flow.BACKUP], flow[at : at + len(found)] = at, found
    return rows._replace(flows=flows)


def _aqm(rng: Generator) -> Columns:
    target = pick(rng, 1, MS // 2, 5 * MS, 15 * MS, 50 * MS)
    return {
        "QUEUE": pick(rng, 0, 2, 5, 30, 100, 200), "AQM": pick(rng, CODEL, PIE, FQ_CODEL),
        "AQM_MARKS": pick(rng, 0, 1), "AQM_TARGET": target,
        "AQM_INTERVAL": pick(rng, MS, 15 * MS, 100 * MS, rng.integers(MS, SECOND)),
        "AQM_MTU": pick(rng, 0, 500, 1500), "FQ_QUANTUM": pick(rng, 100, 300, 1514, 3000),
        "PIE_BURST": pick(rng, 0, 150 * MS), "PIE_ALPHA": pick(rng, 35_184, 352_000),
        "PIE_BETA": pick(rng, 351_844, 3_518_437),
    }  # fmt: skip


def all_alone(count: int, *, seed: int) -> SharedRows:
    """Return networks whose TCP flows are all of one kind that is not mixed with others."""
    rows = shared_rows(count, seed=seed, kinds=[NEWRENO, NEWRENO, NEWRENO, UDP])
    flows = rows.flows.copy()
    flows[:, :, Flow.KIND] = np.where(flows[:, :, Flow.KIND] == UDP, UDP, ALONE)
    return rows._replace(flows=flows)


def all_sctp(count: int, *, seed: int) -> SharedRows:
    """Return the same networks with SCTP instead of TCP."""
    rows = all_alone(count, seed=seed)
    for k, p in enumerate(rows.parameters):
        rng = np.random.default_rng([seed, k, 7])
        for flow in rows.flows[k, : p[Shared.FLOWS]]:
            if flow[Flow.KIND] == ALONE:
                header = pick(rng, 0, 16, 20)
                chunk = int(flow[RowP.DATA]) + header
                columns = sctp_parameters(rng, chunk, int(flow[RowP.WINDOW]))
                columns["INITIAL_RTO"] = pick(rng, 300 * MS, SECOND)
                columns["HEARTBEAT"] = pick(rng, 0, 100 * MS, SECOND, rng.integers(MS, 2 * SECOND))
                _fill(flow, columns | {"CHUNK_HEADER": header, "ECN": 0}, P, Flow)
                flow[RowP.WINDOW] = flow[SctpP.RWND] // chunk
    return rows


def stack(rows: Sequence[SharedRows]) -> SharedRows:
    """Concatenate rows as one array, padded to the largest network and route; they share the table of
    losses.
    """

    def padded(tables: list[Any]) -> Any:
        rows, columns = np.max([table.shape[1:] for table in tables], axis=0)
        return np.concatenate(
            [np.pad(t, ((0, 0), (0, rows - t.shape[1]), (0, columns - t.shape[2]))) for t in tables]
        )

    return SharedRows(
        np.concatenate([row.parameters for row in rows]),
        np.concatenate([row.constants for row in rows]),
        padded([row.flows for row in rows]),
        padded([row.links for row in rows]),
        rows[0].losses,
    )


def select(rows: SharedRows, chosen: Any) -> SharedRows:
    """Return some rows (a slice or a list of indices)."""
    return SharedRows(*(field[chosen] for field in rows[:4]), losses=rows.losses)


def _net(rng: Generator, kinds: Sequence[int], one_way: bool) -> Net:
    on_lattice = bool(rng.random() < 0.3)  # whole milliseconds everywhere: many events at the same instant
    end = int(rng.uniform(1.5, 6.0) * SECOND) // MS * MS
    net = Net(
        SEED=int(rng.integers(0, 1 << 62)), SCENARIO=int(rng.integers(0, 1 << 32)),
        REPLICATION=int(rng.integers(0, 1 << 32)), END=end,
        WARM_UP=pick(rng, 0, end // 4, rng.integers(0, end), end // 2 // MS * MS),
        SAMPLE=pick(rng, 100 * MS, 50 * MS, rng.integers(MS, SECOND)),
    )  # fmt: skip
    paths = _choose_topology(rng, net, on_lattice)[: 1 if one_way else None]
    red = rng.random() < 0.5
    for columns in net.links:
        if red and rng.random() < 0.7:
            columns |= _red(rng, columns)
    chosen = rng.choice(kinds, int(rng.integers(1, 4)))  # few, so that they interact
    for _ in range(int(rng.integers(1, 7))):
        _choose_flow(rng, net, paths, int(rng.choice(chosen)), on_lattice)
    return net


def _choose_topology(rng: Generator, net: Net, on_lattice: bool) -> list[tuple[list[int], list[int]]]:
    """Choose cables between routers; return routes between pairs of them, each with a reverse route."""
    routers = int(rng.integers(2, 7))
    chain = [(n, n + 1) for n in range(routers - 1)]
    tree = [(int(rng.integers(n)), n) for n in range(1, routers)]
    cables = [chain, tree, [*tree, (0, routers - 1)], [*chain, (routers - 1, 0)]][int(rng.integers(4))]
    links: dict[tuple[int, int], list[int]] = {}  # cables may be parallel
    rate = rng.uniform(5.0, 6.6)  # log10 [bit/s]
    lossy = rng.random() < 0.4
    for a, b in cables:
        for ends in ((a, b), (b, a)):
            links.setdefault(ends, []).append(
                net.link(
                    BYTE_TIME=_byte_time(rng, rate + abs(rng.normal(0.0, 0.5)), on_lattice),
                    DELAY=_delay(rng, 30, on_lattice),
                    QUEUE=pick(rng, 0, 1, 2, 3, 5, 10, 30, 100),
                    LOSS=int(rng.choice(7, p=[0.3, 0.1, 0.2, 0.25, 0.1, 0.04, 0.01])) if lossy else 0,
                    ROOM=pick(rng, 1, 8, 64),
                )
            )
    ways = []
    for _ in range(pick(rng, 1, 2, 3)):
        route = _walk(rng, links, routers)
        forth = [pick(rng, *links[ends]) for ends in route]
        back = [pick(rng, *links[ends[::-1]]) for ends in reversed(route)]
        ways += [(forth, back), (back, forth)]
    return ways


def _walk(rng: Generator, links: dict[tuple[int, int], list[int]], routers: int) -> list[tuple[int, int]]:
    """Return a random route that visits no router twice."""
    at = int(rng.integers(routers))
    seen = {at}
    steps: list[tuple[int, int]] = []
    while further := [ends for ends in links if ends[0] == at and ends[1] not in seen]:
        if steps and rng.random() < 0.3:
            break
        steps.append(further[int(rng.integers(len(further)))])
        at = steps[-1][1]
        seen.add(at)
    return steps


def _byte_time(rng: Generator, rate: float, on_lattice: bool) -> int:
    """Return the time per byte [ns], with fraction bits; on the lattice 1,000 bytes take whole
    milliseconds.
    """
    if on_lattice:
        return (pick(rng, 1, 2, 5, 10) * 1000) << BYTE_TIME_BITS
    return round(8e9 * 2**BYTE_TIME_BITS / 10**rate)


def _delay(rng: Generator, most_ms: int, on_lattice: bool) -> int:
    if on_lattice:
        return int(rng.integers(0, most_ms)) * MS
    return pick(rng, 0, rng.integers(0, MS), rng.integers(0, most_ms * MS))


def _red(rng: Generator, link: Columns) -> Columns:
    least = int(rng.integers(0, 6))
    return {
        "QUEUE": pick(rng, link["QUEUE"], 10, 30),
        "RED": pick(rng, RED_DROPS, RED_MARKS, RED_MARKS), "RED_MIN_TH": least,
        "RED_MAX_TH": least + int(rng.integers(0, 16)),
        "RED_MAX_P": pick(rng, 0, 655, 6554, 6554, 32768, 65536),
        "RED_WEIGHT": pick(rng, 0, 1, 2, 4, 6, 9), "RED_GENTLE": int(rng.integers(0, 2)),
        "RED_PACKET_TIME": pick(
            rng, 0, rng.integers(1, 20 * MS), (1000 * link["BYTE_TIME"]) >> BYTE_TIME_BITS
        ),
    }  # fmt: skip


def _choose_flow(
    rng: Generator, net: Net, ways: list[tuple[list[int], list[int]]], kind: int, on_lattice: bool
) -> None:
    route, back = ways[int(rng.integers(len(ways)))]
    end = net.columns["END"]
    columns = {
        "KIND": kind, "START": pick(rng, 0, 10 * MS, rng.integers(0, end // 3)), "ECN": pick(rng, 0, 1, 1),
        "LIMIT": pick(rng, ENDLESS, ENDLESS, rng.integers(1, 200)),
        "SOURCE_DELAY": _delay(rng, 50, on_lattice), "SINK_DELAY": max(_delay(rng, 20, on_lattice), 1),
    }  # fmt: skip
    if on_lattice:
        columns |= {"DATA": 960, "HEADER": 40, "ACK": pick(rng, 0, 0, 1000)}
        columns["SINK_DELAY"] = max(columns["SINK_DELAY"], MS)
    else:
        columns |= {"DATA": int(rng.integers(100, 1461)), "HEADER": pick(rng, 0, 20, 40)}
        columns["ACK"] = int(rng.integers(20, 81))
    for name in ("ACCESS", "ACCESS_BACK", "SINK", "SINK_BACK"):
        columns[name] = pick(rng, 0, _byte_time(rng, rng.uniform(6.0, 9.0), on_lattice))
    if kind == UDP:
        every = pick(rng, 5 * MS, 20 * MS, rng.integers(MS, 50 * MS))
        columns |= {
            "INTERVAL": every, "SPREAD": pick(rng, 0, every, every // 2, 3 * every),
            "STOP": pick(rng, FOREVER, FOREVER, rng.integers(0, end)),
        }  # fmt: skip
        if rng.random() < 0.5:
            columns |= {"ON": int(rng.integers(1, 500 * MS)), "OFF": int(rng.integers(0, 500 * MS))}
        net.flow(route=route, **columns)
        return
    window = int(rng.integers(1, 65) if rng.random() < 0.9 else rng.integers(65, 200))
    parameters = tcp_parameters(rng, window) | {"WINDOW": window, "INITIAL_RTO": pick(rng, 500 * MS, SECOND)}
    buffer = pick(rng, 0, 0, 0, rng.integers(1, 50))
    parameters |= {"SEND_BUFFER": buffer, "SEND_WAKE": int(rng.integers(0, buffer + 1))}
    net.flow(route=route, back=back, **parameters | columns)


def describe(rows: SharedRows, row: int) -> str:
    """Return a network as a few lines, to be read or typed into a test."""

    def line(values: Any, *tables: Any) -> dict[str, int]:
        named = [(c.name, int(values[c])) for table in tables for c in table if c.name != "COLUMNS"]
        return {name: value for name, value in named if value}

    values = rows.parameters[row]
    lines = [str(line(values, P, Shared))]
    lines += [f"link {k}: {line(rows.links[row, k], Link)}" for k in range(values[Shared.LINKS])]
    for k in range(values[Shared.FLOWS]):
        flow = rows.flows[row, k]
        forth, back = (routes_of(flow, back=back).tolist() for back in (False, True))
        route = f"{forth}, back {back}"
        kind = (*KINDS, "alone", *LINUX_KINDS)[flow[Flow.KIND]]
        lines.append(f"flow {k}: {kind} over {route}: {line(flow, P, Flow)}")
    return "\n".join(lines)
