"""Random small networks in which flows arrive and depart beside others."""

import numpy as np

from netcarlo.kernels.base.layout import ENDLESS
from netcarlo.kernels.base.parameters import RowP
from netcarlo.kernels.base.wire import on_wire
from netcarlo.kernels.senders import KINDS, LINUX_RENO, UDP
from netcarlo.kernels.shared.layout import Flow, Link, Shared, SharedRows
from tests.twins.path.scenarios import MS, SECOND, make_linux
from tests.twins.shared.scenarios import PERIODS, shared_rows

WORDS = 2 * 9 + 2
"""Words of the constants of a class: points of sizes, and of think times."""

Points = list[tuple[int, int]]


def arrivals_rows(count: int, *, seed: int, linux: bool = False) -> SharedRows:
    """Return `count` networks some of whose TCP flows are slots of one or two classes."""
    rows = shared_rows(count, seed=seed, kinds=[UDP, *range(1, len(KINDS))])
    constants = np.zeros((count, 2 * 2 * WORDS))
    flows = np.repeat(rows.flows, 3, axis=1)  # room for slots
    parameters = rows.parameters.copy()
    for k in range(count):
        rng = np.random.default_rng([seed, k, 21])
        found: list[np.ndarray] = []
        number = 0
        for flow in rows.flows[k, : parameters[k, Shared.FLOWS]]:
            if flow[Flow.KIND] == UDP or number == 2 or rng.random() < 0.2:
                found.append(flow)
                continue
            number += 1
            found += _slots(rng, flow, rows.links[k], number, constants[k], linux)
        parameters[k, Shared.FLOWS] = len(found)
        parameters[k, Shared.CLASSES] = number
        flows[k] = 0
        flows[k, : len(found)] = found
    return rows._replace(parameters=parameters, constants=constants, flows=flows)


def linux_arrivals_rows(count: int, *, seed: int, kind: int) -> SharedRows:
    """Return the networks of `arrivals_rows` in which all TCP flows are of one kind of current Linux."""
    rows = arrivals_rows(count, seed=seed, linux=True)
    for k, flows in enumerate(rows.flows):
        rng = np.random.default_rng([seed, k, 25])
        for flow in flows[: rows.parameters[k, Shared.FLOWS]]:
            if UDP != flow[Flow.KIND] < LINUX_RENO:
                make_linux(rng, flow)
                flow[Flow.ECN] = 0
            if flow[Flow.KIND] != UDP:
                flow[Flow.KIND] = kind
    return rows


def _slots(
    rng: np.random.Generator,
    flow: np.ndarray,
    links: np.ndarray,
    number: int,
    constants: np.ndarray,
    linux: bool,
) -> list[np.ndarray]:
    """Return the slots of a class, which equal a flow; write the points of their source into `constants`."""
    flow = flow.copy()
    if linux and rng.random() < 0.7:
        flow[Flow.KIND] = LINUX_RENO + int(rng.integers(3))
        make_linux(rng, flow)
        flow[Flow.ECN] = 0
    at = (number - 1) * 2 * WORDS
    put(constants, at, some_points(rng, int(10 ** rng.uniform(3.0, 6.5))))
    put(constants, at + WORDS, some_points(rng, int(rng.integers(MS, SECOND)), least=MS))
    users = bool(rng.random() < 0.4)
    flow[RowP.LIMIT] = ENDLESS
    flow[Flow.CLASS], flow[Flow.SIZES], flow[Flow.THINKS] = number, at, at + WORDS
    flow[Flow.GAP] = 0 if users else int(10 ** rng.uniform(7.0, 9.0))
    flow[Flow.PERIODS] = PERIODS
    # The time that a short last packet saves is part of the latency.
    way = flow[Flow.ROUTE : Flow.ROUTE + flow[Flow.HOPS]]
    times = (flow[Flow.ACCESS], *links[way, Link.BYTE_TIME], flow[Flow.SINK])
    size = flow[RowP.DATA] + flow[RowP.CHUNK_HEADER] + flow[RowP.HEADER]
    flow[Flow.LATENCY] = sum(on_wire(size, time) for time in times) + rng.integers(1, 100 * MS)
    flow[Flow.PACKET_TIME] = rng.integers(0, 10 * MS)
    slots = [flow.copy() for _ in range(int(rng.integers(1, 4)))]
    for slot in slots:
        slot[Flow.SLOTS] = int(users)
        slot[Flow.SOURCE_DELAY] += 0 if rng.random() < 0.5 else rng.integers(1, 30 * MS)
    slots[0][Flow.SLOTS] = 1 if users else len(slots)
    return slots


def some_points(rng: np.random.Generator, most: int, *, least: int = 1) -> Points:
    """Return the points of a random distribution with or without jumps."""
    if rng.random() < 0.2:
        return [(0, most), (1 << 32, most)]
    middle = sorted(int(p) for p in rng.integers(1, 1 << 32, int(rng.integers(0, 7))))
    places = [0, *middle, 1 << 32]
    if rng.random() < 0.5 and middle:
        places.insert(1, middle[0])  # a jump
    values = sorted(int(v) for v in rng.integers(least, max(most, least + 1), len(places)))
    return list(zip(places, values, strict=True))


def put(constants: np.ndarray, at: int, points: Points) -> None:
    constants[at] = len(points)
    constants[at + 1 : at + 1 + 2 * len(points)] = np.array(points).reshape(-1)
