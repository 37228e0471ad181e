"""Random small 802.11 networks with corner cases: hidden nodes, ties, tiny queues, short waits."""

from collections.abc import Callable, Sequence
from enum import IntEnum
from typing import Any, Protocol

import numpy as np
from numpy.random import Generator

from netcarlo.kernels.base.layout import BYTE_TIME_BITS, ENDLESS, FOREVER
from netcarlo.kernels.base.loss import thresholds
from netcarlo.kernels.base.parameters import P, RowP, SctpP
from netcarlo.kernels.senders import KINDS, LINUX_KINDS, LINUX_RENO
from netcarlo.kernels.wireless.layout import (
    AARF,
    ARF,
    FIXED,
    NOBODY,
    Agreement,
    Flow,
    Function,
    Leg,
    Link,
    Node,
    Radio,
    Rate,
    WifiRows,
)
from tests.twins.path.scenarios import make_linux, pick, sctp_parameters, tcp_parameters
from tests.twins.shared.arrival_scenarios import WORDS, put, some_points

US = 1000
MS = 1000 * US
PROBABILITIES = (0.0, 0.01, 0.1, 0.3, 1.0, 0.001)
DSSS = {1.0: 0, 2.0: 1, 5.5: 1, 11.0: 1}  # rate [Mbit/s]: row of its response rate
OFDM = {6: 0, 9: 0, 12: 2, 18: 2, 24: 4, 36: 4, 48: 4, 54: 4}

Columns = dict[str, int]


class Networks(Protocol):
    """Return `count` scenarios; row k of a seed is the same for every `count`."""

    def __call__(self, count: int, *, seed: int, tcp: bool) -> WifiRows: ...


class Net:
    """Network under construction; `row` converts it to a row."""

    def __init__(self) -> None:
        self.p: Columns = {}
        self.radio: Columns = {}
        self.nodes: list[Columns] = []
        self.flows: list[Columns] = []
        self.links: list[Columns] = []
        self.legs: list[Columns] = []
        self.rates: list[Columns] = []
        self.paths: list[int] = []

    def link(self, first: int, to: int, rate: int, loss: int = 0, fragility: int = 0) -> int:
        self.links.append({"FROM": first, "TO": to, "RATE": rate, "LOSS": loss, "FRAGILITY": fragility})
        return len(self.links) - 1

    def leg(self, **columns: int) -> int:
        self.legs.append({"ROOM": 10} | columns)
        return len(self.legs) - 1

    def flow(self, *, forth: Sequence[int], back: Sequence[int] = (), **columns: int) -> None:
        """Add a flow over links `forth`, whose acknowledgements return over links `back`."""
        at = len(self.paths)
        self.paths += [*forth, *back]
        nowhere = dict.fromkeys(("BEFORE", "AFTER", "ACK_BEFORE", "ACK_AFTER"), NOBODY)
        self.flows.append(nowhere | {"STOP": FOREVER, "LIMIT": ENDLESS} | columns | {
            "FORTH_AT": at, "FORTH": len(forth), "BACK_AT": at + len(forth), "BACK": len(back),
        })  # fmt: skip

    def words(self, radio: Columns) -> list[int]:
        """Return the words from PATHS_AT on."""
        return self.paths

    def tables(self) -> list[tuple[type[IntEnum], list[Columns]]]:
        """Return the tables before the paths."""
        return [(Flow, self.flows), (Link, self.links), (Leg, self.legs), (Rate, self.rates)]

    def row(self) -> WifiRows:
        radio = dict(self.radio) | {"NODES": len(self.nodes)}
        network: list[int] = []
        for columns, table in self.tables():
            name = f"{columns.__name__.upper()}S"
            radio |= {name: len(table), f"{name}_AT": len(network)}
            for line in table:
                if columns is Link:
                    line = {"HIGHEST": len(self.rates) - 1} | line
                network += [line.get(column.name, 0) for column in columns]
        radio["PATHS_AT"] = len(network)
        network += self.words(radio)
        parameters = np.zeros((1, Radio.COLUMNS), np.int64)
        for name, value in self.p.items():
            parameters[0, P[name]] = value
        for name, value in radio.items():
            parameters[0, Radio[name]] = value
        # A mask is a 64-bit pattern.
        nodes = [[line.get(column.name, 0) for column in Node] for line in self.nodes]
        return WifiRows(
            parameters, np.zeros((1, 0)), np.array([nodes], np.uint64).astype(np.int64),
            np.array([network], np.int64), thresholds(PROBABILITIES),
        )  # fmt: skip


def wifi_rows(count: int, *, seed: int, tcp: bool) -> WifiRows:
    """Return `count` scenarios with UDP, and also TCP if `tcp`; row k of a seed is the same for every
    `count`.
    """
    return stack([_net(np.random.default_rng([seed, k, 3]), tcp).row() for k in range(count)])


def all_linux(count: int, *, seed: int, make: Networks = wifi_rows) -> WifiRows:
    """Return the same networks with current Linux, often with large windows; full queues do not hold
    senders.
    """
    rows = make(count, seed=seed, tcp=True)
    for k, p in enumerate(rows.parameters):
        make_linux(np.random.default_rng([seed, k, 8]), p)
        p[Radio.BACK_PRESSURE] = 0
        flows = rows.network[k, : p[Radio.FLOWS] * len(Flow)].reshape(-1, len(Flow))  # FLOWS_AT is 0
        of_linux = flows[:, Flow.TCP] == 1
        p[RowP.DATA], p[RowP.HEADER] = flows[of_linux][0, [Flow.SIZE, Flow.HEADER]]
        flows[of_linux, Flow.SIZE], flows[of_linux, Flow.HEADER] = p[RowP.DATA], p[RowP.HEADER]
    return rows


def all_mixed(count: int, *, seed: int, linux: bool = False, make: Networks = wifi_rows) -> WifiRows:
    """Return the same networks with a separate transport for each flow, of any kind, often current Linux."""
    rows = make(count, seed=seed, tcp=True)
    of_linux = range(LINUX_RENO, LINUX_RENO + len(LINUX_KINDS)) if linux else ()
    some = [*range(1, len(KINDS)), *2 * [*of_linux]]

    def kinds(row: int) -> list[int]:
        rng = np.random.default_rng([seed, row, 9])
        return rng.choice(some, int(rows.parameters[row, Radio.FLOWS])).tolist()

    mixed = with_own(rows, kinds)
    for k, p in enumerate(mixed.parameters):
        rng = np.random.default_rng([seed, k, 10])
        at, count = int(p[Radio.TRANSPORTS_AT]), int(p[Radio.FLOWS])
        own = mixed.network[k, at : at + count * len(P)].reshape(count, len(P))
        flows = mixed.network[k, : count * len(Flow)].reshape(count, len(Flow))
        for columns, flow in zip(own, flows, strict=True):
            for name, value in transport_parameters(rng).items():
                columns[P[name]] = value
            if flow[Flow.KIND] >= LINUX_RENO:
                make_linux(rng, columns)
                columns[RowP.DATA], columns[RowP.HEADER] = flow[Flow.SIZE], flow[Flow.HEADER]
                p[Radio.BACK_PRESSURE] = 0
        p[RowP.WINDOW] = own[:, RowP.WINDOW].max()
    return mixed


def with_own(rows: WifiRows, kinds: Callable[[int], list[int]]) -> WifiRows:
    """Return rows in which each flow has its own transport columns, equal to those of the row, and
    `kinds(row)`.
    """
    most, parameters = int(rows.parameters[:, Radio.FLOWS].max()), rows.parameters.copy()
    networks = []
    for k, (p, network) in enumerate(zip(parameters, rows.network.copy(), strict=True)):
        flows = network[: p[Radio.FLOWS] * len(Flow)].reshape(-1, len(Flow))  # FLOWS_AT is 0
        flows[:, Flow.KIND] = kinds(k)
        own = np.tile(p[: len(P)], most)
        p[Radio.TRANSPORTS_AT] = p[Radio.PATHS_AT]
        p[Radio.PATHS_AT] += own.size
        networks.append(np.insert(network, p[Radio.TRANSPORTS_AT], own))
    return rows._replace(parameters=parameters, network=np.array(networks))


def all_sctp(count: int, *, seed: int, make: Networks = wifi_rows) -> WifiRows:
    """Return the same networks with SCTP instead of TCP."""
    rows = make(count, seed=seed, tcp=True)
    for k, p in enumerate(rows.parameters):
        rng = np.random.default_rng([seed, k, 7])
        size, header = pick(rng, 100, 1000, 1452, 40), pick(rng, 0, 16, 20)
        columns = sctp_parameters(rng, size + header, int(p[RowP.WINDOW])) | {
            "DATA": size, "CHUNK_HEADER": header, "HEADER": pick(rng, 0, 20, 32),
            "MIN_RTO": pick(rng, 0, 5 * MS, 20 * MS), "MAX_RTO": pick(rng, 20 * MS, 1000 * MS),
            "INITIAL_RTO": pick(rng, 10 * MS, 30 * MS), "ACK_DELAY": pick(rng, US, 2 * MS, 20 * MS),
            "HEARTBEAT": pick(rng, 0, MS, 10 * MS, rng.integers(MS, 40 * MS)),
        }  # fmt: skip
        for name, value in columns.items():
            p[P[name]] = value
        p[RowP.WINDOW] = p[SctpP.RWND] // (size + header)
        flows = rows.network[k, : p[Radio.FLOWS] * len(Flow)].reshape(-1, len(Flow))  # FLOWS_AT is 0
        of_sctp = flows[:, Flow.TCP] == 1
        flows[of_sctp, Flow.SIZE], flows[of_sctp, Flow.HEADER] = size, header + p[RowP.HEADER]
    return rows


def gauged_rows(rows: WifiRows, *, seed: int) -> WifiRows:
    """Return the same networks with delay statistics of most flows, in up to three classes."""
    parameters, network = rows.parameters.copy(), rows.network.copy()
    for k, p in enumerate(parameters):
        rng = np.random.default_rng([seed, k, 24])
        p[Radio.DELAY_CLASSES] = most = int(rng.integers(0, 4))
        for flow in network[k, : p[Radio.FLOWS] * len(Flow)].reshape(-1, len(Flow)):  # FLOWS_AT is 0
            flow[Flow.DELAY_CLASS] = rng.integers(0, most + 1)
            flow[Flow.BOUND] = pick(rng, FOREVER, 1, rng.integers(0, 30 * MS))
    return rows._replace(parameters=parameters, network=network)


def arriving_rows(rows: WifiRows, *, seed: int) -> WifiRows:
    """Return the same networks whose TCP flows are slots, of Poisson sources or of users."""
    parameters, network = rows.parameters.copy(), rows.network.copy()
    most = int(parameters[:, Radio.FLOWS].max())  # each may be a class
    constants = np.zeros((len(parameters), most * 2 * WORDS))
    for k, p in enumerate(parameters):
        rng = np.random.default_rng([seed, k, 26])
        flows = network[k, : p[Radio.FLOWS] * len(Flow)].reshape(-1, len(Flow))  # FLOWS_AT is 0
        number = first = 0
        users = False
        for i, flow in enumerate(flows):
            if flow[Flow.TCP] == 0 or rng.random() < 0.1:
                first = i + 1
                continue
            if users or first == i or rng.random() < 0.3:
                first, users = i, bool(rng.random() < 0.4)
                number += 1
                at = (number - 1) * 2 * WORDS
                put(constants[k], at, some_points(rng, int(10 ** rng.uniform(1.5, 4.0))))
                put(constants[k], at + WORDS, some_points(rng, int(rng.integers(MS, 20 * MS))))
                flow[Flow.GAP] = 0 if users else int(10 ** rng.uniform(6.0, 7.4))
            else:
                flow[Flow.GAP] = flows[first, Flow.GAP]
            flow[Flow.CLASS], flow[Flow.SIZES], flow[Flow.THINKS] = number, at, at + WORDS
            flow[Flow.PERIODS] = PROBABILITIES.index(0.001)
            flow[Flow.LIMIT], flow[Flow.SHORT] = ENDLESS, 0
            flows[first, Flow.SLOTS] = i + 1 - first
        p[Radio.ARRIVAL_CLASSES] = number
    return rows._replace(parameters=parameters, network=network, constants=constants)


def failing_rows(rows: WifiRows, *, seed: int) -> WifiRows:
    """Return the same networks with a gateway that fails up to six times, and without FQ-CoDel."""
    most, parameters = 6, rows.parameters.copy()
    networks = []
    for k, (p, network) in enumerate(zip(parameters, rows.network, strict=True)):
        rng = np.random.default_rng([seed, k, 22])
        first, network = p[Radio.FUNCTIONS_AT] + Function.FQ, network.copy()
        network[first : first + p[Radio.FUNCTIONS] * len(Function) : len(Function)] = 0
        end, unit = int(p[RowP.END]), pick(rng, 1, 1, 10 * US, MS)  # on a lattice ties are common
        times = np.unique(rng.integers(0, end // unit + 2, 2 * int(rng.integers(0, most + 1)))) * unit
        p[Radio.OUTAGES], p[Radio.OUTAGES_AT] = len(times) // 2, p[Radio.PATHS_AT]
        p[Radio.PATHS_AT] += 2 * most
        times = np.resize(times[: 2 * p[Radio.OUTAGES]], 2 * most) if len(times) > 1 else np.zeros(2 * most)
        networks.append(np.insert(network, p[Radio.OUTAGES_AT], times.astype(np.int64)))
    return rows._replace(parameters=parameters, network=np.array(networks))


def stack(rows: Sequence[WifiRows]) -> WifiRows:
    """Concatenate rows as one array, padded to the widest; they share the table of losses."""
    nodes = max(row.nodes.shape[1] for row in rows)
    width = max(row.network.shape[1] for row in rows)
    return WifiRows(
        np.concatenate([row.parameters for row in rows]),
        np.concatenate([row.constants for row in rows]),
        np.concatenate([np.pad(r.nodes, ((0, 0), (0, nodes - r.nodes.shape[1]), (0, 0))) for r in rows]),
        np.concatenate([np.pad(r.network, ((0, 0), (0, width - r.network.shape[1]))) for r in rows]),
        rows[0].losses,
    )


def select(rows: WifiRows, chosen: Any) -> WifiRows:
    """Return some rows (a slice or a list of indices)."""
    return WifiRows(*(field[chosen] for field in rows[:4]), rows.losses)  # type: ignore[arg-type]


def _net(rng: Generator, tcp: bool) -> Net:
    net = Net()
    end = int(rng.uniform(30, 120) * MS)
    net.p = {
        "SEED": int(rng.integers(0, 1 << 62)), "SCENARIO": int(rng.integers(0, 1 << 32)),
        "REPLICATION": int(rng.integers(0, 1 << 32)), "END": end,
    } | transport_parameters(rng)  # fmt: skip
    warm_up = pick(rng, 0, 0, rng.integers(0, end), end // 2 // MS * MS)
    net.radio = {"WARM_UP": warm_up, "BIN": pick(rng, 0, 5 * MS, rng.integers(1, end))}
    net.radio["MAC_OVERHEAD"] = pick(rng, 0, 36, 36)
    net.radio["BACK_PRESSURE"] = int(rng.random() < 0.3)
    _choose_timing(rng, net)
    net.radio |= {
        "CW_MAX": net.radio["CW_MIN"] if rng.random() < 0.2 else pick(rng, 63, 127, 1023),
        "SHORT_RETRY": int(rng.choice([1, 2, 4, 7, 7])), "LONG_RETRY": int(rng.choice([1, 2, 4, 7])),
        "RTS_THRESHOLD": pick(rng, 0, 200, 700, ENDLESS, ENDLESS), "BURST": int(rng.choice([1, 1, 1, 2, 5])),
        "GATEWAY_BURST": int(rng.choice([1, 1, 2, 5])),
        "RATE_CONTROL": int(rng.choice([FIXED, ARF, AARF])),
        "ARF_UP": int(rng.choice([1, 3, 10])), "ARF_DOWN": int(rng.choice([1, 2, 3])),
        "ARF_TIMER": int(rng.choice([2, 5, 15])), "AARF_FACTOR": int(rng.choice([1, 2, 3])),
        "AARF_MOST": int(rng.choice([10, 60])),
    }  # fmt: skip
    links = choose_topology(rng, net)
    choose_legs(rng, net)
    for number in range(int(rng.integers(1, 6))):
        choose_flow(rng, net, links, tcp and (number == 0 or rng.random() < 0.6))
    return net


def transport_parameters(rng: Generator) -> Columns:
    window = int(rng.integers(1, 50))
    parameters = tcp_parameters(rng, window) | {"WINDOW": window, "ACK": int(rng.integers(20, 81))}
    buffer = int(rng.choice([0, 0, 1, 5, 20]))
    del parameters["LIMIT"]
    return parameters | {
        "TICK": pick(rng, MS, MS, 10 * MS, rng.integers(1000, 20 * MS)),
        "MIN_RTO": pick(rng, 0, 5 * MS, 20 * MS), "MAX_RTO": pick(rng, 20 * MS, 1000 * MS),
        "INITIAL_RTO": pick(rng, 10 * MS, 30 * MS), "ACK_DELAY": pick(rng, US, 2 * MS, 20 * MS),
        "SEND_BUFFER": buffer, "SEND_WAKE": int(rng.integers(0, buffer + 1)),
        "SAMPLE": 10 * MS,
    }  # fmt: skip


def _choose_timing(rng: Generator, net: Net) -> None:
    """Choose the parameters of a standard or unusual ones, and a table of DSSS rates, OFDM rates, or both."""
    kind = pick(rng, 0, 1, 2)  # 802.11b, a, g
    slot, sifs, cw_min = [(20, 10, 31), (9, 16, 15), (9, 10, 15)][kind]
    preamble = pick(rng, 96, 192)
    if kind != 1:
        net.rates += [
            {"SYMBOL": US, "SIXTH_BITS": round(6 * rate), "PREAMBLE": preamble * US, "ANSWER": answer,
             "DSSS": 1}
            for rate, answer in DSSS.items()
        ]  # fmt: skip
    if kind != 0:
        first = len(net.rates)
        net.rates += [
            {"SYMBOL": 4 * US, "SIXTH_BITS": 24 * rate, "EXTRA_BITS": 22, "PREAMBLE": 20 * US,
             "EXTENSION": 6 * US if kind == 2 else 0, "ANSWER": first + answer}
            for rate, answer in OFDM.items()
        ]  # fmt: skip
    answer_time = preamble + 14 * 8 if kind != 1 else 44
    net.radio |= {
        "SLOT": slot * US, "SIFS": sifs * US, "EIFS": (2 * sifs + 2 * slot + answer_time) * US,
        "CW_MIN": cw_min if rng.random() < 0.7 else pick(rng, 0, 1, 3, 7),
        "PROTECTION": pick(rng, NOBODY, 0, 3) if kind == 2 else NOBODY,
    }  # fmt: skip
    if rng.random() < 0.2:  # no standard, but no more a lattice
        odd = {name: net.radio[name] + int(rng.integers(0, 3000)) for name in ("SLOT", "SIFS", "EIFS")}
        net.radio |= odd


def choose_topology(rng: Generator, net: Net) -> list[tuple[list[int], list[int]]]:
    """Choose nodes and their masks; return paths of links, each with a reverse path."""
    count = int(rng.integers(2, 9))
    chain = rng.random() < 0.5
    apart = np.abs(np.subtract.outer(np.arange(count), np.arange(count)))  # hop distance
    if not chain:  # cell around the last node; some do not hear each other
        apart = np.triu(rng.choice([1, 1, 2, 3], (count, count)), 1)
        apart = apart + apart.T
        apart[-1, :-1] = apart[:-1, -1] = 1
    near, sense, control, disturb = 1, pick(rng, 1, 1, 2, 3, 8), pick(rng, 1, 1, 2, 3), pick(rng, 1, 2, 3, 8)
    disturb_control = pick(rng, 1, disturb)
    scrambled = rng.random() < 0.25

    def mask(j: int, reach: int) -> int:
        flips = rng.random(count) < 0.15 if scrambled and reach > 1 else np.zeros(count, bool)
        return sum(1 << i for i in range(count) if i != j and (apart[j, i] <= reach) != flips[i])

    for j in range(count):
        neighbours = mask(j, near)
        sensed = mask(j, sense) | neighbours
        net.nodes.append({
            "QUEUE": int(rng.choice([1, 2, 3, 10, 50])), "SENSE": sensed, "NEAR": neighbours,
            "CONTROL": (mask(j, control) | neighbours) & sensed, "DISTURB_DATA": mask(j, disturb),
            "DISTURB_CONTROL": mask(j, disturb_control),
        })  # fmt: skip
    if rng.random() < 0.1:  # one hears nobody's data
        net.nodes[pick(rng, *range(count))]["NEAR"] = 0
    top = len(net.rates) - 1
    rate = pick(rng, 0, top // 2, top, rng.integers(0, top + 1))
    lossy = rng.random() < 0.4
    sturdy = rng.random() < 0.4

    def link(first: int, to: int) -> int:
        loss = int(rng.choice(len(PROBABILITIES), p=[0.3, 0.3, 0.2, 0.08, 0.02, 0.1])) if lossy else 0
        fragility = pick(rng, 1, 2, 3, 6, 6, 6) if sturdy else 0
        own_rate = rate if rng.random() < 0.7 else int(rng.integers(0, top + 1))
        return net.link(first, to, own_rate, loss, fragility)

    if chain:
        up = [link(n, n + 1) for n in range(count - 1)]
        down = [link(n + 1, n) for n in reversed(range(count - 1))]
        return [(up, down), (down, up)] + [([a], [b]) for a, b in zip(up, reversed(down), strict=True)]
    sink = count - 1
    pairs = [([link(n, sink)], [link(sink, n)]) for n in range(sink)]
    return pairs + [(down, up) for up, down in pairs]


def choose_legs(rng: Generator, net: Net) -> None:
    for _ in range(int(rng.integers(0, 4))):
        tick = pick(rng, 0, 0, MS, 4 * MS)
        net.leg(
            BYTE_TIME=round(8e9 * 2**BYTE_TIME_BITS / 10 ** rng.uniform(6, 8)), OVERHEAD=pick(rng, 0, 2, 38),
            PACKET_TIME=pick(rng, 0, 0, 350 * US), DELAY=pick(rng, 0, 100 * US, MS, 5 * MS), TICK=tick,
            PHASE=pick(rng, 0, rng.integers(0, tick + 1)), ROOM=int(rng.choice([1, 3, 50, 1000])),
            SWING=pick(rng, 0, 0, 2**20 // 25, 2**20 // 8), SWING_EVERY=pick(rng, 10 * MS, 3 * MS),
        )  # fmt: skip


def choose_flow(rng: Generator, net: Net, paths: list[tuple[list[int], list[int]]], tcp: bool) -> None:
    forth, back = paths[int(rng.integers(len(paths)))]

    def leg() -> int:
        return pick(rng, NOBODY, NOBODY, *range(len(net.legs)))

    end = net.p["END"]
    columns = {
        "TCP": int(tcp), "START": pick(rng, 0, MS, rng.integers(0, end // 3)),
        "LIMIT": pick(rng, ENDLESS, ENDLESS, rng.integers(1, 60)), "SIZE": pick(rng, 100, 1000, 1460, 40),
        "HEADER": pick(rng, 0, 28, 40), "BEFORE": leg(), "AFTER": leg(),
    }  # fmt: skip
    if tcp:
        columns |= {"ACK_BEFORE": leg(), "ACK_AFTER": leg(), "ACK_COST": pick(rng, 0, 0, 100 * US)}
        if rng.random() < 0.3:  # an application reads
            columns["AFTER"] = net.leg(
                PACKET_TIME=pick(rng, 0, 130 * US, rng.integers(0, MS)), DELAY=pick(rng, 0, 0, MS),
                ROOM=int(rng.choice([2, 10, 1000])), SIZE=columns["SIZE"],
                READ=columns["SIZE"] * int(rng.integers(1, 9)) + pick(rng, 0, 500),
                READ_TIME=pick(rng, 0, 250 * US, rng.integers(0, 2 * MS)), SWING=pick(rng, 0, 0, 2**20 // 8),
                SWING_EVERY=3 * MS,
            )  # fmt: skip
        net.flow(forth=forth, back=back, **columns)
    else:
        every = pick(rng, 200 * US, MS, 5 * MS, rng.integers(100 * US, 5 * MS))
        stop = pick(rng, FOREVER, rng.integers(0, end))
        spread = pick(rng, 0, every // 2, 3 * every)
        net.flow(forth=forth, **columns | {"INTERVAL": every, "STOP": stop, "SPREAD": spread})


def describe(rows: WifiRows, row: int) -> str:
    """Return a scenario as a few lines, to be read or typed into a test."""
    values = rows.parameters[row]
    lines = [str({c.name: int(values[c]) for c in P if values[c]})]
    lines += [str({c.name: int(values[c]) for c in Radio if c.name != "COLUMNS"})]
    for n in range(values[Radio.NODES]):
        lines.append(f"node {n}: { {c.name: int(rows.nodes[row, n, c]) for c in Node} }")
    for columns in (Flow, Link, Leg, Rate, Function, Agreement):
        name = f"{columns.__name__.upper()}S"
        at = int(values[Radio[f"{name}_AT"]])
        for k in range(int(values[Radio[name]])):
            line = {c.name: int(rows.network[row, at + k * len(columns) + c]) for c in columns}
            lines.append(f"{columns.__name__} {k}: {line}")
    lines.append(f"paths: {rows.network[row, values[Radio.PATHS_AT] :].tolist()}")
    return "\n".join(lines)
