"""Errors of fluids and formulae against packets, and their use as control variates: docs/results/fidelity.md.

    python -m tests.campaigns fidelity bias [networks [kinds or senders]] > configs/references/known_bias.csv
    python -m tests.campaigns fidelity tables
    python -m tests.campaigns fidelity linux [networks [kinds or senders]]
    python -m tests.campaigns fidelity control [runs]
    python -m tests.campaigns fidelity bursts [networks]

`tables` prints known_bias.csv as the tables of docs/results/fidelity.md. `linux` prints the mean error of the
fluid of current Linux and the median of its absolute value, and whether they miss `TARGETS`. `control`
simulates the packets of each cell of two example sweeps once and then draws samples from these runs. The mean
of all runs is the truth that the intervals should contain.
"""

import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from netcarlo import configs, load_scenario, simulate
from netcarlo.estimation.control_variates import MAX_DRAWS, controlled, draws_needed
from netcarlo.kernels import models
from netcarlo.kernels.runtime import launch
from netcarlo.networks.path.finite import KINDS as FINITE
from netcarlo.networks.path.mobility import PROTOCOLS
from netcarlo.numerics import statistics
from netcarlo.numerics.arrays import Floats
from netcarlo.scenario import Scenario
from netcarlo.simulation import fidelity
from netcarlo.simulation.ensemble import build
from netcarlo.simulation.outcomes import outcomes
from tests.campaigns import parser
from tests.campaigns.benchmarks.fluid import radio
from tests.campaigns.benchmarks.fluid_adhoc import KINDS as OF_ADHOC
from tests.campaigns.benchmarks.fluid_adhoc import drawn as drawn_adhoc
from tests.campaigns.benchmarks.fluid_paths import walk, walk_of_datagrams

EXAMPLES = Path(str(configs.__file__)).parent / "examples"

TCPS: dict[str, dict[str, Any]] = {
    **{name: {"transport.protocol": name} for name in ("tahoe", "reno", "newreno", "sack")},
    "vegas": {"transport.protocol": "vegas", "transport.header": "40 B"},
    **{
        name: {"transport.protocol": "sack", "transport.congestion_control": name}
        for name in ("bic", "cubic", "westwood")
    },
}

LINUX: dict[str, dict[str, Any]] = {
    f"linux_{name}": {"transport.protocol": "linux", "transport.congestion_control": name}
    for name in ("reno", "cubic", "bbr")
}
"""Transports of current Linux over paths, to mobile hosts, over shared links and 802.11."""

LINUX_ALONE = {"linux_bbr3": {"transport.protocol": "linux", "transport.congestion_control": "bbr3"}}
"""Today's Linux with a fluid of a flow alone on a path."""

TARGETS = {"linux_reno": (0.05, 0.10), "linux_cubic": (0.05, 0.10), "linux_bbr": (0.08, 0.15)}
TARGETS["linux_bbr3"] = TARGETS["linux_bbr"]
"""Targets for the error of the fluid: largest mean, and largest median of its absolute value."""

OF_NS2 = {name: TCPS[name] for name in ("newreno", "sack")}
"""Senders of ns-2 on networks with AQM."""

AQM = {
    "paths codel": ("paths", {"hops.0.each.queue": "codel"}),
    "dumbbells codel": ("dumbbells", {"shared.dumbbell.queue": "codel"}),
    "graphs codel": ("graphs", {"shared.graph.each.queue": "codel"}),
    "dumbbells fq_codel": ("dumbbells", {"shared.dumbbell.queue": "fq_codel"}),
}
"""Networks with AQM on all links, and their differences from the networks without AQM."""

SCTP: dict[str, Any] = {
    "transport": {"protocol": "sctp", "receiver_window": {"log_uniform": ["24 kB", "190 kB"]}}
}

OTHERS: dict[str, dict[str, Any]] = {
    name: {"transport.protocol": name} for name in ("probing", "new_probing", "linux26")
}
"""Senders with fluids of paths, mobile hosts (except `probing`) and ad hoc networks only."""

QUIC = {
    f"quic_{name}": {"transport": {"protocol": "quic", "congestion_control": name}}
    for name in ("cubic", "newreno")
}
MPTCP = {
    f"mptcp_{name}": {"transport": {"protocol": "mptcp", "congestion_control": name}}
    for name in ("reno", "cubic", "bbr")
}

OUTAGES = {"up": {"log_uniform": ["20 s", "200 s"]}, "down": {"log_uniform": ["0.1 s", "5 s"]}}
"""Outages of every hop."""

UDP_RATES = {"log_uniform": ["100 kbit/s", "10 Mbit/s"]}
PAYLOADS = {"integers": ["200 B", "1460 B"]}

EDCA: dict[str, Any] = {
    "duration": "7 s", "warm_up": "1 s",  # long PPDUs: results of 1 s differ by 10 %
    "transport": {
        "protocol": "udp", "rate": {"log_uniform": ["1 Mbit/s", "100 Mbit/s"]},
        "payload": {"integers": ["200 B", "1470 B"]},
    },
    "wireless": {
        "standard": "802.11ax", "channel": "40 MHz", "streams": {"integers": [1, 2]},
        "cell": {"stations": {"integers": [1, 20]}}, "each": {"mcs": {"integers": [0, 11]}},
        "aggregation": {"ampdu": {"choice": ["8191 B", "65535 B", "1048575 B"]}},
    },
}  # fmt: skip
"""Cells of 802.11ax: stations with different MCS and one upload each."""

LONGER = {"duration": "20 s", "warm_up": "5 s"}
"""Runs of current Linux over 802.11, where slow start takes seconds at low rates."""

GRAPH = {
    "routers": {"integers": [4, 10]},
    "degree": 2.5,
    "each": {
        "rate": {"log_uniform": ["1 Mbit/s", "20 Mbit/s"]},
        "delay": {"log_uniform": ["1 ms", "20 ms"]},
        "queue": {"log_uniform": ["10 packets", "200 packets"]},
        "loss": {"choice": [0, 0, "0.5 %"]},
    },
}


class Population(NamedTuple):
    """Networks drawn at random, with their names in known_bias.csv."""

    network: str
    protocol: str
    scenario: Scenario


def populations() -> Iterator[Population]:
    """Return all populations: paths with and without outages, mobile hosts, shared links, 802.11 and ad hoc.

    Each is simulated with every TCP, with SCTP and with UDP."""
    paths = load_scenario(EXAMPLES / "random_topology.yaml")
    dumbbells = load_scenario(EXAMPLES / "random_dumbbells.yaml")
    graphs = dumbbells.model_dump(mode="json", exclude_none=True)
    del graphs["shared"]["dumbbell"]
    graphs["shared"]["graph"] = GRAPH
    outages = paths.with_values({"hops.0.each.outages": OUTAGES, "duration": "120 s"})
    named = {"paths": paths, "outages": outages, "dumbbells": dumbbells, "graphs": Scenario.check(graphs)}
    for network, scenario in named.items():
        for protocol, values in {**TCPS, **LINUX}.items():
            yield Population(network, protocol, scenario.with_values(values))
        yield Population(network, "sctp", scenario.with_values(SCTP))
    further = LINUX_ALONE | OTHERS
    for network, (protocol, values) in itertools.product(("paths", "outages"), further.items()):
        yield Population(network, protocol, named[network].with_values(values))
    for network, (of, queues) in AQM.items():
        for protocol, values in {**OF_NS2, **LINUX}.items():
            yield Population(network, protocol, named[of].with_values(queues | values))
        if of != "paths":
            yield Population(network, "sctp", named[of].with_values(queues | SCTP))
    for protocol in FINITE:
        transfer = {"transport.bytes": {"log_uniform": ["10 kB", "10 MB"]}, "duration": "120 s"}
        yield Population("transfers", protocol, paths.with_values(LINUX[protocol] | transfer))
    for network in ("paths", "outages"):
        udp = {"transport": {"protocol": "udp", "rate": UDP_RATES, "payload": PAYLOADS}}
        yield Population(network, "udp", named[network].with_values(udp))
    for network, scenario in (("two paths", paths), ("two paths with outages", outages)):
        route = scenario.model_dump(mode="json", exclude_none=True)["paths"][0]
        yield Population(network, "sctp", scenario.with_values(SCTP | {"paths": [route, route]}))
    route = paths.model_dump(mode="json", exclude_none=True)["paths"][0]
    for protocol, values in MPTCP.items():
        yield Population("two paths", protocol, paths.with_values(values | {"paths": [route, route]}))
    for network in ("paths", "outages"):
        for protocol, values in QUIC.items():
            yield Population(network, protocol, named[network].with_values(values))
    cells, mesh = (load_scenario(EXAMPLES / f"wifi_{name}.yaml") for name in ("cells", "mesh"))
    yield Population("cells", "udp", cells)
    yield Population("EDCA cells", "udp", Scenario.check(EDCA))
    yield Population("meshes", "udp", mesh.with_values({"transport.rate": UDP_RATES}))
    for flows in ("up", "down", "both"):
        for network, scenario in {"cells": cells, "meshes": mesh}.items():
            for protocol, values in TCPS.items():
                own = {"wireless.flows": flows, "transport": {"payload": PAYLOADS, **of_transport(values)}}
                named = network if flows == "up" else f"{network} {flows}"
                yield Population(named, protocol, scenario.with_values(own))
        named = "" if flows == "up" else f" {flows}"
        for protocol, values in LINUX.items():
            own = {"wireless.flows": flows, "transport": {"payload": PAYLOADS, **of_transport(values)}}
            yield Population(f"cells{named}", protocol, cells.with_values(own | LONGER))
        for protocol in ("newreno", "linux_cubic"):
            transport = {"payload": PAYLOADS, **of_transport({**TCPS, **LINUX}[protocol])}
            wireless = EDCA["wireless"] | {"flows": flows}
            own = EDCA | {"transport": transport, "wireless": wireless} | LONGER
            yield Population(f"EDCA cells{named}", protocol, Scenario.check(own))
        association = {"payload": PAYLOADS, **SCTP["transport"]}
        own = {"wireless.flows": flows, "transport": association}
        yield Population(f"cells{named}", "sctp", cells.with_values(own | LONGER))
        wireless = EDCA["wireless"] | {"flows": flows}
        own = EDCA | {"transport": association, "wireless": wireless} | LONGER
        yield Population(f"EDCA cells{named}", "sctp", Scenario.check(own))
    yield from of_chains()
    moving = (*TCPS, *LINUX, "new_probing", "linux26", "sctp")
    for handover, sender in itertools.product(PROTOCOLS, moving):
        yield Population(f"mobile {handover}", sender, walk(handover, sender))
    for handover in PROTOCOLS:
        yield Population(f"mobile {handover}", "udp", walk_of_datagrams(handover))
    for moves in (True, False):
        for protocol in OF_ADHOC:
            network = "adhoc" if moves else "adhoc static"
            yield Population(network, protocol, drawn_adhoc(protocol, moves=moves))


def of_chains() -> Iterator[Population]:
    """Return chains of 802.11 hops: all nodes in range of each other, with hidden nodes, and with ARF."""
    drawn = radio()
    named = {
        "chains": "chains",
        "chains, hidden nodes": "chains with hidden nodes",
        "chains, ARF": "chains with arf",
    }
    for layout, network in named.items():
        scenario = drawn[layout]
        yield Population(network, "udp", scenario)
        for flows, (protocol, values) in itertools.product(("up", "down", "both"), TCPS.items()):
            own = {"wireless.flows": flows, "transport": {"payload": PAYLOADS, **of_transport(values)}}
            one = scenario.with_values(own)
            if not one.network.unknown(one, "fluid"):  # ARF is supported for UDP only
                yield Population(network if flows == "up" else f"{network} {flows}", protocol, one)


def bursts(kind: str) -> Scenario:
    """Return a path of 2 to 5 hops; the last one fails for 1 to 100 ms every 0.5 to 20 s."""
    hop = {
        "rate": {"log_uniform": ["1 Mbit/s", "50 Mbit/s"]},
        "delay": {"uniform": ["1 ms", "40 ms"]},
        "queue": {"integers": [20, 200]},
        "loss": {"choice": [0, "0.01 %", "0.1 %", "1 %"]},
    }
    times = {"up": {"log_uniform": ["0.5 s", "20 s"]}, "down": {"log_uniform": ["1 ms", "100 ms"]}}
    transport = {"protocol": "newreno", "window": {"integers": [16, 256]}}
    hops = [{"count": {"integers": [1, 4]}, "each": hop}, hop | {"outages": times}]
    scenario = Scenario.check({"duration": "60 s", "transport": transport, "hops": hops})
    return scenario.with_values(SCTP if kind == "sctp" else TCPS[kind])


TABLES = (
    *(
        {f"{network}: {cheap}": (network, cheap) for network in pair for cheap in fidelity.CHEAP}
        for pair in (("paths", "outages"), ("dumbbells", "graphs"))
    ),
    *(
        {
            f"{network}: {way}": (network if way == "up" else f"{network} {way}", "fluid")
            for network in networks
            for way in ("up", "down", "both")
        }
        for networks in (("cells", "meshes"), ("EDCA cells",))
    ),
    {network.replace(" ", ", "): (network, "fluid") for network in AQM},
    {f"transfers: {cheap}": ("transfers", cheap) for cheap in fidelity.CHEAP},
    {"walking": ("adhoc", "fluid"), "static": ("adhoc static", "fluid")},
)
"""Network and fidelity of each column of the tables."""


def cell(found: fidelity.Bias | None) -> str:
    """Return the median and the range from the 5 % to the 95 % quantile, in percent."""
    if found is None:
        return ""
    median, low, high = (f"{whole:+d}" if (whole := round(100 * part)) else "0" for part in found)
    return f"{median} ({low} .. {high})"


def tables() -> list[str]:
    """Return the tables of known_bias.csv in Markdown."""
    known, told = fidelity.measured(), []
    for columns in TABLES:
        networks = [network for network, _ in columns.values()]
        lines = ["| [%] | " + " | ".join(columns) + " |", "|---" * (len(columns) + 1) + "|"]
        for protocol in dict.fromkeys(protocol for _, network, protocol in known if network in networks):
            found = [known.get((cheap, network, protocol)) for network, cheap in columns.values()]
            lines.append(f"| {protocol} | " + " | ".join(map(cell, found)) + " |")
        told.append("\n".join(lines))
    return told


def of_bursts(networks: int) -> None:
    """Print the error of formula and fluid with bursts of losses."""
    print("error of the goodput [%]: median and 90 % of its size, 5 %, 50 %, 95 %, mean")
    for kind in (*TCPS, "sctp"):
        scenario = bursts(kind)
        truth = simulate(scenario, replications=networks).frame["goodput_bps"]
        for cheap in ("formula", "fluid"):
            rough = scenario.with_values({"fidelity": cheap})
            off = 100 * (simulate(rough, replications=networks).frame["goodput_bps"] / truth - 1).dropna()
            told = [*off.abs().quantile([0.5, 0.9]), *off.quantile([0.05, 0.5, 0.95]), off.mean()]
            print(f"{kind:10s} {cheap:8s}", *(f"{value:7.1f}" for value in told), flush=True)


def of_transport(values: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of the transport only."""
    return {name.removeprefix("transport."): value for name, value in values.items()}


def bias(scenario: Scenario, *, fidelities: tuple[str, ...], networks: int) -> dict[str, fidelity.Bias]:
    """Return the bias of the goodput of cheap fidelities over a number of networks."""
    found = {}
    for cheap, off in errors(scenario, fidelities=fidelities, networks=networks).items():
        found[cheap] = fidelity.Bias(*(float(q) for q in off.quantile([0.5, 0.05, 0.95]).round(3) + 0.0))
    return found


def errors(
    scenario: Scenario, *, fidelities: tuple[str, ...], networks: int
) -> dict[str, "pd.Series[float]"]:
    """Return the relative errors of the goodput of cheap fidelities, [networks] each."""
    address = scenario.network.address(scenario, fluid=False)
    if address.family == "shared" and scenario.transport.protocol not in ("sctp", "linux"):
        # One kernel for all TCPs saves compile time.
        rows, drawn = build(scenario, replications=networks)
        integers = launch.run(models.at(address._replace(sender="mixed", control="")), rows)
        truth = outcomes(scenario.network, integers, rows, drawn).frame["goodput_bps"]
    else:
        truth = simulate(scenario, replications=networks).frame["goodput_bps"]
    found = {}
    for cheap in fidelities:
        rough = scenario.with_values({"fidelity": cheap})
        value = simulate(rough, replications=networks).frame["goodput_bps"]
        found[cheap] = (value / truth.where(truth > 0) - 1).dropna()
    return found


def of_linux(protocol: str, off: "pd.Series[float]") -> str:
    """Return mean and median absolute value of errors [%], and whether they miss the target."""
    mean, median = off.mean(), off.abs().median()
    most = TARGETS[protocol]
    missed = ", missed" if abs(mean) > most[0] or median > most[1] else ""
    return f"{100 * mean:+.1f} and {100 * median:.1f}{missed}"


def sweeps() -> Iterator[tuple[str, Scenario]]:
    """Return the cells of two sweeps: TCPs and losses over random paths, rates over random 802.11 cells."""
    paths = load_scenario(EXAMPLES / "random_topology.yaml")
    for protocol in ("reno", "sack"):
        for loss in ("0", "0.1 %", "1 %"):
            values = TCPS[protocol] | {"hops.0.each.loss": loss}
            yield f"paths: {protocol}, loss {loss}", paths.with_values(values)
    cells = load_scenario(EXAMPLES / "wifi_cells.yaml")
    for rate in ("6 Mbit/s", "54 Mbit/s"):
        yield f"cells: {rate}", cells.with_values({"wireless.rate": rate})


class Pool(NamedTuple):
    """Runs of a scenario that stand for its population: packets and formula on the same networks."""

    y: Floats
    x: Floats


def pool(scenario: Scenario, *, runs: int, control: str = "formula") -> Pool:
    """Return the goodputs of `runs` networks by packets and by a cheap fidelity."""
    y = simulate(scenario, replications=runs).frame["goodput_bps"]
    rough = scenario.with_values({"fidelity": control})
    x = simulate(rough, replications=runs).frame["goodput_bps"]
    return Pool(y.to_numpy(np.float64), x.to_numpy(np.float64))


def cover(pool: Pool, *, runs: int, samples: int, seed: int) -> dict[str, float]:
    """Return coverage and variance reduction of estimates by `runs` packet runs, and coverage of plain means.

    `fall` is the variance reduction measured over the samples; `reported` is the median of the estimates' own
    values.
    """
    rng, truth = np.random.default_rng(seed), pool.y.mean()
    rows = []
    for _ in range(samples):
        k = rng.integers(0, len(pool.y), runs)
        draws = draws_needed(pool.y[k], pool.x[k], most=MAX_DRAWS["formula"])
        more = rng.integers(0, len(pool.y), draws - runs)
        found = controlled(pool.y[k], np.concatenate([pool.x[k], pool.x[more]]))
        plain = statistics.mean(pool.y[k])
        assert found is not None
        rows.append(
            (
                found.mean.ci_low <= truth <= found.mean.ci_high,
                plain.ci_low <= truth <= plain.ci_high,
                found.mean.mean,
                plain.mean,
                found.variance_ratio,
            )
        )
    covered, plainly, sharp, means, ratio = np.array(rows).T
    return {
        "coverage": covered.mean(),
        "plain": plainly.mean(),
        "fall": means.var() / sharp.var(),
        "reported": float(np.median(ratio)),
    }


def cover_precise(pool: Pool, *, relative: float, samples: int, seed: int) -> dict[str, float]:
    """Return coverage and packet runs of estimates that stop at a precision, and of plain means."""
    rng, truth = np.random.default_rng(seed), pool.y.mean()
    rule = statistics.StoppingRule(relative)
    covered = used = 0
    for _ in range(samples):
        y, x, more = np.zeros(0), np.zeros(0), np.zeros(0)
        found = None
        while True:
            count = rule.next_after(len(y), lambda f=found: f.mean)  # type: ignore[misc]
            if not count:
                break
            k = rng.integers(0, len(pool.y), count)
            y, x = np.append(y, pool.y[k]), np.append(x, pool.x[k])
            wanted = draws_needed(y, x, most=MAX_DRAWS["formula"]) - len(y)
            more = np.append(more, pool.x[rng.integers(0, len(pool.y), max(wanted - len(more), 0))])
            found = controlled(y, np.append(x, more))
        assert found is not None
        covered += found.mean.ci_low <= truth <= found.mean.ci_high
        used += len(y)
    return {"coverage": covered / samples, "runs": used / samples}


def main() -> None:
    """Print the tables."""
    arguments = parser(__doc__)
    arguments.add_argument("what", choices=("bias", "tables", "linux", "control", "bursts"))
    arguments.add_argument("number", nargs="?", type=int, default=0, help="of networks or runs")
    arguments.add_argument("kinds", nargs="*", help="of networks, such as paths, or senders")
    given = arguments.parse_args()
    what, number, only = given.what, given.number, given.kinds
    if what == "bias":
        print("fidelity,network,protocol", *fidelity.Bias._fields, sep=",")
        for network, protocol, scenario in populations():
            if only and not {network.split()[0], network, protocol} & {*only}:
                continue
            cheap = tuple(each for each in fidelity.CHEAP if not scenario.network.unknown(scenario, each))
            for name, found in bias(scenario, fidelities=cheap, networks=number or 200).items():
                print(name, network, protocol, *found, sep=",", flush=True)
        return
    if what == "linux":
        for network, protocol, scenario in populations():
            wanted = not only or {network.split()[0], network, protocol} & {*only}
            if protocol in TARGETS and wanted:
                off = errors(scenario, fidelities=("fluid",), networks=number or 200)["fluid"]
                print(f"{network}, {protocol}: {of_linux(protocol, off)}", flush=True)
        return
    if what == "tables":
        print(*tables(), sep="\n\n")
        return
    if what == "bursts":
        of_bursts(number or 500)
        return
    rows = {}
    for name, scenario in sweeps():
        runs = number or (20_000 if scenario.paths else 1_000)
        found = pool(scenario, runs=runs)
        rows[name] = {
            **{f"{key} {n}": value for n in (100, 500) for key, value in
               cover(found, runs=n, samples=1000, seed=n).items()},
            **cover_precise(found, relative=0.02, samples=400, seed=3),
        }  # fmt: skip
        print(pd.DataFrame(rows).T.round(3).to_string(), flush=True)
