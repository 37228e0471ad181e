"""Random small networks of 802.11n, ac and ax with corner cases: short TXOPs, full queues, one MPDU.

Both retry limits occur: per MPDU as in the standard, and per function as in ns-3.
"""

import numpy as np
from numpy.random import Generator

from netcarlo.kernels.base.layout import ENDLESS
from netcarlo.kernels.wireless.layout import AIRTIME, FIFO, FIXED, NOBODY, ROUND_ROBIN, WifiRows
from tests.twins.path.scenarios import pick
from tests.twins.wireless.edca.mpdu import LLC, SUBFRAME
from tests.twins.wireless.edca.net import BEST_EFFORT, CATEGORIES, EdcaNet
from tests.twins.wireless.scenarios import (
    MS,
    US,
    Columns,
    choose_flow,
    choose_legs,
    choose_topology,
    stack,
    transport_parameters,
)

LEGACY = 6, 12, 24  # [Mbit/s]
MODULATIONS = (  # bits of a subcarrier, code rate
    (1, 1, 2), (2, 1, 2), (2, 3, 4), (4, 1, 2), (4, 3, 4), (6, 2, 3), (6, 3, 4), (6, 5, 6),
    (8, 3, 4), (8, 5, 6), (10, 3, 4), (10, 5, 6),
)  # fmt: skip
SUBCARRIERS = (52, 108, 234), (234, 468, 980)  # HT and VHT, HE; of 20, 40 and 80 MHz
SMALLEST = 20  # packet [byte]
BA_BYTES = {64: 32, 256: 56, 1024: 152}


def edca_rows(count: int, *, seed: int, tcp: bool) -> WifiRows:
    """Return `count` scenarios with UDP, and also TCP if `tcp`; row k of a seed is the same for every
    `count`.
    """
    return stack([_with_schedulers(seed, k, tcp).row() for k in range(count)])


def _with_schedulers(seed: int, k: int, tcp: bool) -> EdcaNet:
    """Return network k; in some networks, one node sends to several stations, which its scheduler serves."""
    rng = np.random.default_rng([seed, k, 47])
    net = _net(np.random.default_rng([seed, k, 46]), tcp, to_stations=rng.random() < 0.35)
    _choose_schedulers(rng, net)
    return net


def _net(rng: Generator, tcp: bool, *, to_stations: bool) -> EdcaNet:
    net = EdcaNet()
    end = int(rng.uniform(20, 80) * MS)
    net.p = {
        "SEED": int(rng.integers(0, 1 << 62)), "SCENARIO": int(rng.integers(0, 1 << 32)),
        "REPLICATION": int(rng.integers(0, 1 << 32)), "END": end,
    } | transport_parameters(rng)  # fmt: skip
    warm_up = pick(rng, 0, 0, rng.integers(0, end), end // 2 // MS * MS)
    net.radio = {
        "WARM_UP": warm_up, "BIN": pick(rng, 0, 5 * MS, rng.integers(1, end)),
        "MAC_OVERHEAD": pick(rng, 38, 38, 34, 46), "BACK_PRESSURE": int(rng.random() < 0.3),
        "SHORT_RETRY": int(rng.choice([1, 2, 4, 7, 7])), "LONG_RETRY": 7,
        "RTS_THRESHOLD": pick(rng, 0, 200, 1000, 5000, ENDLESS, ENDLESS, ENDLESS), "PROTECTION": NOBODY,
        "BURST": 1, "GATEWAY_BURST": 1, "BAR_AFTER_MISSED": int(rng.integers(0, 2)), "RATE_CONTROL": FIXED,
        "RETRY_PER_MPDU": int(rng.integers(0, 2)),
        "MOST_TIME": pick(rng, 5484 * US, 5484 * US, 5484 * US, 2000 * US, 300 * US),
    }  # fmt: skip
    _choose_rates(rng, net)
    paths = choose_topology(rng, net)
    for link in net.links:
        link["FRAGILITY"] = 0
    choose_legs(rng, net)
    if to_stations:
        paths = [path for path in paths if net.links[path[0][0]]["FROM"] == len(net.nodes) - 1]
    usual, full = pick(rng, *CATEGORIES), rng.random() < 0.3
    if full and rng.random() < 0.5:
        paths = paths[-2:]  # several categories in one node
    for number in range(int(rng.integers(1, 7))):
        net.category = usual if rng.random() < (1 if to_stations else 0.4) else pick(rng, *CATEGORIES)
        choose_flow(rng, net, paths, tcp and (number == 0 or rng.random() < 0.6))
        _choose_load(rng, net.flows[-1], full=full)
    _choose_functions(rng, net, full=full)
    return net


def _choose_schedulers(rng: Generator, net: EdcaNet) -> None:
    """Choose the schedulers, mostly the same one in all nodes, and FQ-CoDel."""
    usual = pick(rng, FIFO, ROUND_ROBIN, AIRTIME)
    fair = rng.random() < 0.4
    for function in net.wanted.values():
        function["SCHEDULER"] = usual if rng.random() < 0.8 else pick(rng, FIFO, ROUND_ROBIN, AIRTIME)
        function["FQ"] = int(fair and rng.random() < 0.8)
        if function["FQ"]:  # there is room for all packets that saturated sources add
            room = 1 + sum(flow.get("BACKLOG", 0) for flow in net.flows)
            function["QUEUE"] += room - 1
            function["POOL"] += room
    target = pick(rng, 20 * MS, 5 * MS, MS, 100 * US)
    for agreement in net.pairs.values():
        agreement["TARGET"] = target if rng.random() < 0.7 else 50 * MS
        agreement["INTERVAL"] = pick(rng, 100 * MS, 10 * MS, 2 * MS, MS)
    low = pick(rng, 5 * MS, 5 * MS, MS, 200 * US, 1)
    high = pick(rng, 12 * MS, 2 * low)
    net.radio |= {
        "FQ_QUANTUM": pick(rng, 300, 300, 1514, 1), "AQL_LOW": low, "AQL_HIGH": high,
        "AQL_TOTAL": pick(rng, 24 * MS, 2 * low),
    }  # fmt: skip


def _choose_rates(rng: Generator, net: EdcaNet) -> None:
    """Choose legacy rates for control frames, rates of one or two standards, and parameters of a band."""
    at_2_4_ghz = rng.random() < 0.3
    extension = 6 * US if at_2_4_ghz else 0
    net.rates = [
        {"SYMBOL": 4 * US, "SIXTH_BITS": 24 * rate, "EXTRA_BITS": 22, "PREAMBLE": 20 * US, "ANSWER": k,
         "EXTENSION": extension}
        for k, rate in enumerate(LEGACY)
    ]  # fmt: skip
    for _ in range(int(rng.integers(1, 3))):
        he, delimited, streams = rng.random() < 0.4, int(rng.random() < 0.6), int(rng.integers(1, 4))
        subcarriers = streams * pick(rng, *SUBCARRIERS[he])
        symbol = 12800 + pick(rng, 800, 1600, 3200) if he else 3200 + pick(rng, 400, 800)
        preamble = pick(rng, 36, 36, 40) + 8 * streams if he else 32 + 4 * streams
        first = int(rng.integers(0, 8))
        for mcs, (bits, of, parts) in list(enumerate(MODULATIONS))[first : first + 4]:
            net.rates.append({
                "SYMBOL": symbol, "SIXTH_BITS": 6 * subcarriers * bits * of // parts,
                "EXTRA_BITS": pick(rng, 22, 22, 28), "PREAMBLE": preamble * US, "EXTENSION": extension,
                "ANSWER": min((mcs + 1) // 2, 2), "DELIMITED": delimited or int(he),
            })  # fmt: skip
    slot, sifs = 9 * US, 10 * US if at_2_4_ghz else 16 * US
    if rng.random() < 0.2:  # not a standard, so that times are not on a lattice
        slot, sifs = slot + int(rng.integers(0, 3000)), sifs + int(rng.integers(0, 3000))
    standard = net.radio["RETRY_PER_MPDU"] == 1
    net.radio |= {
        "SLOT": slot, "SIFS": sifs, "EIFS": sifs + 44 * US if standard else 0,
        "RTS_RATE": pick(rng, NOBODY, 2, 0), "CF_END_RATE": pick(rng, 0, 0, 2),
    }  # fmt: skip


def _choose_load(rng: Generator, flow: Columns, *, full: bool) -> None:
    """Let a UDP source send often, or keep its queue filled."""
    if flow["TCP"]:
        return
    kind = 2 if full else pick(rng, 0, 1, 1, 2, 2)
    if kind == 1:
        flow["INTERVAL"] = flow["INTERVAL"] // pick(rng, 2, 10, 20)
        flow["SPREAD"] = min(flow["SPREAD"] // 10, 2 * flow["INTERVAL"])
    if kind == 2:
        backlog = pick(rng, 60, 128, 300) if full else pick(rng, 1, 3, 20, 128)
        flow |= {"BACKLOG": backlog, "BEFORE": NOBODY, "LIMIT": ENDLESS if full else flow["LIMIT"]}


def _choose_functions(rng: Generator, net: EdcaNet, *, full: bool) -> None:
    """Choose the functions and agreements that the flows need, and some others; long A-MPDUs if `full`."""
    radio, wide = net.radio, pick(rng, 64, 64, 256) if full else pick(rng, 1, 2, 8, 64, 64, 256)
    alike: dict[int, Columns] = {}  # by category
    for node, category, link in net.hops:
        if category not in alike or rng.random() < 0.2:
            alike[category] = _function(rng, category, radio)
            if full and rng.random() < 0.8:
                alike[category] |= {"QUEUE": 400, "AMPDU": pick(rng, 65535, 1048575)}
        if (node, category) not in net.wanted:
            net.function(node, category, **alike[category])
        if (node, category, link) not in net.pairs:
            window = wide if rng.random() < 0.7 else pick(rng, 1, 4, 64)
            ba_bytes = next(size for most, size in BA_BYTES.items() if window <= most)
            block_ack = int(rng.random() < (1 if full else 0.85))
            net.agreement(
                category, link, WINDOW=window, BA_BYTES=ba_bytes, BLOCK_ACK=block_ack,
                RTS_THRESHOLD=radio["RTS_THRESHOLD"],
            )  # fmt: skip
    if rng.random() < 0.2:  # a function without traffic
        net.function(
            0, BEST_EFFORT, **(net.wanted.get((0, BEST_EFFORT)) or _function(rng, BEST_EFFORT, radio))
        )
    for (node, category), function in net.wanted.items():
        windows = [a["WINDOW"] for key, a in net.pairs.items() if key[:2] == (node, category)]
        most = max(function["AMSDU"] // (SUBFRAME + LLC + SMALLEST), 1)
        function["POOL"] = function["QUEUE"] + most * sum(windows)


def _function(rng: Generator, category: int, radio: Columns) -> Columns:
    number, cw_min, txop = [(2, 3, 2080), (2, 7, 4096), (3, 15, 0), (7, 15, 0)][category]
    if rng.random() < 0.4:
        number, cw_min = pick(rng, 1, 2, 3, 7), pick(rng, 0, 1, 3, 15)
        txop = pick(rng, 0, 0, 300, 1504, rng.integers(100, 6000))
    cw_max = pick(rng, cw_min, 2 * cw_min + 1, 63, 1023)
    return {
        "AIFS": radio["SIFS"] + number * radio["SLOT"], "CW_MIN": cw_min, "CW_MAX": max(cw_min, cw_max),
        "TXOP": txop * US, "QUEUE": int(rng.choice([1, 2, 3, 10, 50, 200, 200])),
        "AMPDU": pick(rng, 0, 2000, 8191, 65535, 65535, 65535, 4194303), "AMSDU": pick(rng, 0, 0, 3839, 7935),
    }  # fmt: skip
