"""Fluid models of paths, shared links and 802.11 compared with packets: errors and speed.

    python -m tests.campaigns fluid error [topologies]
    python -m tests.campaigns fluid outages [paths]
    python -m tests.campaigns fluid speed [topologies]
    python -m tests.campaigns fluid wireless [networks [layout ...]]

Prints the tables of docs/results/fluid-*.md: goodput on networks drawn at random and on paths with a hop that
fails and recovers, the time of a thousand topologies of a thousand flows, and goodput of 802.11 networks.
"""

import itertools
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from netcarlo import configs
from netcarlo.kernels import models
from netcarlo.kernels.base.layout import Out
from netcarlo.kernels.runtime import compile as compilers
from netcarlo.kernels.runtime import launch
from netcarlo.kernels.runtime.threads import cores
from netcarlo.kernels.senders import KINDS
from netcarlo.kernels.shared.layout import SharedRows
from netcarlo.scenario import Scenario, load_scenario
from netcarlo.simulation.ensemble import build
from netcarlo.simulation.outcomes import outcomes
from tests.campaigns import parser

EXAMPLES = Path(str(configs.__file__)).parent / "examples"
TCPS = KINDS[1:]
CONTROLS = ("bic", "cubic", "westwood")
LINK = {
    "rate": {"log_uniform": ["1 Mbit/s", "50 Mbit/s"]},
    "delay": {"log_uniform": ["1 ms", "50 ms"]},
    "queue": {"log_uniform": ["10 packets", "300 packets"]},
    "loss": {"choice": [0, 0, 0, 0, "0.05 %", "0.2 %", "0.5 %", "2 %"]},
    "reverse": {"loss": 0, "queue": "1000 packets"},
}
TWO_WAY = {name: value for name, value in LINK.items() if name != "reverse"}
RED = {"least": 15, "most": 60, "probability": 0.1}
LAYOUTS: dict[str, dict[str, Any]] = {
    "dumbbell": {"dumbbell": LINK},
    "dumbbell, RED": {"dumbbell": {**LINK, "queue": "200 packets", "red": RED}},
    "parking lot": {"parking_lot": {"links": {"integers": [2, 5]}, "each": LINK}},
    "tree": {"tree": {"routers": {"integers": [5, 12]}, "each": TWO_WAY}},
    "graph": {"graph": {"routers": {"integers": [5, 12]}, "degree": 2.5, "each": TWO_WAY}},
}


def shared(layout: str) -> Scenario:
    """Return up to 30 flows of different TCPs, with UDP in every second network, over a random network."""
    access = {
        "source_delay": {"log_uniform": ["0.5 ms", "50 ms"]},
        "sink_delay": {"log_uniform": ["0.5 ms", "20 ms"]},
    }
    start = {"uniform": ["0 s", "10 s"]}
    flows: list[dict[str, Any]] = [
        {"count": {"integers": [0, 4]}, "each": {"protocol": tcp, "access": access, "start": start}}
        for tcp in TCPS
    ]
    flows[2]["count"] = {"integers": [1, 4]}
    flows.append({"count": {"integers": [0, 1]}, "each": {"udp": {"rate": "1 Mbit/s", "payload": "1000 B"}}})
    if layout == "parking lot":
        flows[0]["each"]["between"] = flows[3]["each"]["between"] = "hops"
    if layout in ("tree", "graph"):
        for group in flows:
            group["each"]["between"] = "random"
    return Scenario.check(
        {
            "duration": "60 s",
            "warm_up": "20 s",
            "transport": {"protocol": "newreno", "window": {"log_uniform": [16, 500]}, "header": "40 B"},
            "shared": {**LAYOUTS[layout], "flows": flows},
        }
    )


def describe(error: Any) -> str:
    """Return the quantiles of a relative error, in percent."""
    error = np.asarray(error)
    low, median, high = np.quantile(error, [0.05, 0.5, 0.95]) * 100
    size = np.abs(error) * 100
    return (
        f"{np.median(size):5.1f} {np.quantile(size, 0.9):7.1f} "
        f"{low:+8.1f} {median:+8.1f} {high:+8.1f} {error.mean() * 100:+8.1f}"
    )


HEADING = "median     90 %      5 %      50 %     95 %    mean"


def errors(topologies: int) -> None:
    """Print errors of the goodput of the fluid model compared with packets, on the same rows."""
    parts = []
    for layout in LAYOUTS:
        scenario = shared(layout)
        ensemble = build(scenario, replications=topologies // len(LAYOUTS))
        frames = {}
        for model in ("shared_mixed", "fluid"):
            start = time.process_time()
            integers = launch.run(models.model(model), ensemble.rows)
            frames[model] = outcomes(scenario.network, integers, *ensemble).frame
            print(f"{layout}: {model} took {time.process_time() - start:.1f} s of processor time")
        packet, cheap = frames["shared_mixed"], frames["fluid"]
        part = pd.DataFrame({"layout": layout}, index=packet.index)
        part["error"] = cheap["tcp_goodput_bps"] / packet["tcp_goodput_bps"] - 1
        for name in ("fairness", "utilisation", "drop_ratio"):
            part[name], part[f"{name}_fluid"] = packet[name], cheap[name]
        for kind in TCPS:
            part[kind] = cheap[f"{kind}_bps"] / packet[f"{kind}_bps"] - 1
        parts.append(part)
    table = pd.concat(parts)
    print(f"\nerror of the TCP goodput [%]         {HEADING}")
    print(f"{'all':34s} {describe(table.error)}")
    for layout in LAYOUTS:
        print(f"{layout:34s} {describe(table[table.layout == layout].error)}")
    busy = pd.cut(table.utilisation, [0, 0.7, 0.9, 0.99, 2])
    for load, some in table.groupby(busy, observed=True):
        print(f"busiest link used {load!s:16s} {describe(some.error)}  {len(some)} networks")
    for kind in TCPS:
        print(f"mean flow of {kind:21s} {describe(table[kind].dropna())}")
    close = ((table.fairness - table.fairness_fluid).abs() < 0.05).mean()
    print(f"fairness: within 0.05 of packets in {close:.0%}")
    lossy = table[table.drop_ratio > 0.001]
    ratio = np.abs(np.log(lossy.drop_ratio_fluid / lossy.drop_ratio))
    print(f"drop ratio above 0.001: within a factor 1.5 in {(ratio < np.log(1.5)).mean():.0%}")
    logs = np.log(table.error + 1)
    print(f"error of the logarithm: standard deviation {logs.std():.3f}")


def outages(paths: int) -> None:
    """Print errors of the fluid of a path with a hop that fails and recovers, compared with packets."""
    hop = {name: value for name, value in LINK.items() if name != "reverse"}
    print(f"error of the goodput [%]             {HEADING}    us a path, packets")
    for tcp in TCPS:
        protocol = {"protocol": tcp}
        if tcp in ("bic", "cubic", "westwood"):
            protocol = {"protocol": "sack", "congestion_control": tcp}
        scenario = Scenario.check(
            {
                "duration": "120 s",
                "transport": {**protocol, "window": {"log_uniform": [8, 500]}},
                "hops": [hop],
            }
        )
        name = scenario.network.address(scenario, fluid=True).name
        packets = name.replace("fluid", "tcp_sack" if tcp in ("bic", "cubic", "westwood") else "tcp")
        for up_s, down_s in ((20.0, 0.0), (20.0, 0.1), (20.0, 1.0), (10.0, 5.0)):
            cut = scenario.with_values({"hops.0.outages": {"up": f"{up_s} s", "down": f"{down_s} s"}})
            some = build(cut, replications=paths).rows
            acked, took = [], []
            for model in (name, packets):
                compilers.cpu_loop(models.model(model))
                start = time.process_time()
                acked.append(launch.run(models.model(model), some)[:, Out.ACKED])
                took.append((time.process_time() - start) / paths * 1e6)
            what = f"{tcp}, down {down_s:g} s in {up_s:g}" if down_s else f"{tcp}, never down"
            error = acked[0] / np.maximum(acked[1], 1) - 1
            print(f"{what:34s} {describe(error)} {took[0]:9.0f} {took[1]:9.0f}")


def radio() -> dict[str, Scenario]:
    """Return 802.11 networks drawn at random: those of the examples, and variants of them."""
    cells, mesh = (load_scenario(EXAMPLES / f"wifi_{name}.yaml") for name in ("cells", "mesh"))
    data = cells.model_dump(mode="json", exclude_none=True)
    del data["wireless"]["cell"]
    data["wireless"]["chain"] = {"hops": {"integers": [1, 6]}}
    chains = Scenario.check(data)
    rate, error = data["wireless"]["rate"], {"uniform": ["0 %", "10 %"]}
    arf = {"wireless.rate_control": "arf", "duration": "20 s"}
    wire = {"rate": {"log_uniform": ["2 Mbit/s", "100 Mbit/s"]}, "delay": {"log_uniform": ["1 ms", "50 ms"]}}
    return {
        "cells": cells,
        "cells, noise": cells.with_values({"wireless.frame_error": error}),
        "cells, a rate for each": cells.with_values({"wireless.each.rate": rate}),
        "cells, a wire behind": cells.with_values({"wireless.wire": wire}),
        "meshes": mesh.with_values({"transport.rate": data["transport"]["rate"]}),
        "chains": chains,
        "cells, ARF": cells.with_values(arf),
        "chains, ARF": chains.with_values(arf),
        "chains, hidden nodes": chains.with_values({"wireless.reach": {"sense": 2}}),
    }


def wireless(networks: int, *only: str) -> None:
    """Print errors of the fluid of 802.11 networks, compared with packets:

    UDP, and each TCP up, down and both.
    """
    print(f"error of the goodput [%]             {HEADING}   us a network, packets")
    for layout, scenario in radio().items():
        if only and layout not in only:
            continue
        tcps = []
        for kind, flows in itertools.product(TCPS, ("up", "down", "both")):
            transport = {"payload": {"integers": ["200 B", "1460 B"]}, "protocol": kind}
            if kind in CONTROLS:
                transport |= {"protocol": "sack", "congestion_control": kind}
            tcps.append(scenario.with_values({"transport": transport, "wireless.flows": flows}))
        for what, some in {"UDP": [scenario], "TCP": tcps}.items():
            some = [each for each in some if not each.network.unknown(each, "fluid")]  # ARF: UDP only
            if not some:
                continue
            found = [_beside(each, -(-networks // len(some))) for each in some]
            error = describe(np.concatenate([each[0] for each in found]))
            fluid_us, packets_us = np.mean([each[1:] for each in found], axis=0)
            print(f"{f'{layout}: {what}':34s} {error} {fluid_us:9.0f} {packets_us:9.0f}", flush=True)


def _beside(scenario: Scenario, networks: int) -> tuple[NDArray[np.float64], float, float]:
    """Return errors of the goodput [networks], and processor times of a network by fluid and packets [us]."""
    ensemble = build(scenario, replications=networks)
    goodput, took = [], []
    for fluid in (True, False):
        model = models.at(scenario.network.address(scenario, fluid=fluid))
        compilers.cpu_loop(model)
        start = time.process_time()
        integers = launch.run(model, ensemble.rows)
        took.append((time.process_time() - start) / networks * 1e6)
        goodput.append(outcomes(scenario.network, integers, *ensemble).frame["goodput_bps"].to_numpy())
    some = goodput[1] > 0
    return goodput[0][some] / goodput[1][some] - 1, took[0], took[1]


def many(topologies: int, flows: int = 1000) -> SharedRows:
    """Return a 1 Gbit/s link that `flows` flows with different TCPs and round-trip times share for 60 s."""
    each = {
        "start": {"uniform": ["0 s", "10 s"]},
        "access": {"source_delay": {"uniform": ["10 ms", "60 ms"]}, "sink_delay": "1 ms"},
    }
    tcps = ("reno", "newreno", "sack", "cubic")
    groups = [{"count": flows // len(tcps), "each": {**each, "protocol": tcp}} for tcp in tcps]
    link = {"rate": "1 Gbit/s", "delay": "10 ms", "queue": "2000 packets"}
    scenario = {
        "duration": "60 s", "warm_up": "20 s", "fidelity": "fluid",
        "transport": {"protocol": "newreno", "window": 128},
        "shared": {"dumbbell": link, "flows": groups},
    }  # fmt: skip
    rows: SharedRows = build(Scenario.check(scenario), replications=topologies).rows
    return rows


def speed(topologies: int) -> None:
    """Print the time of topologies of 1,000 flows each, on all cores."""
    rows = many(20)
    compilers.cpu_loop(models.model("fluid"))
    wall, processor = time.perf_counter(), time.process_time()
    done = 0
    while done < topologies:
        rows.parameters[:, 2] = np.arange(done, done + 20)  # other random numbers
        launch.run(models.model("fluid"), rows)
        done += 20
    wall, processor = time.perf_counter() - wall, time.process_time() - processor
    print(f"{done} topologies of 1,000 flows, 60 s each: {wall:.1f} s on {cores()} cores, "
          f"{processor:.1f} s of processor time")  # fmt: skip


TABLES: dict[str, tuple[Callable[..., None], int]] = {
    "error": (errors, 500), "outages": (outages, 100), "speed": (speed, 1000), "wireless": (wireless, 500),
}  # fmt: skip
"""Function that prints each table, and its default number of networks."""


def main() -> None:
    """Print a table."""
    arguments = parser(__doc__)
    arguments.add_argument("what", choices=TABLES)
    arguments.add_argument("count", nargs="?", type=int)
    arguments.add_argument("layouts", nargs="*", metavar="layout", help=f"wireless: {', '.join(radio())}")
    given = arguments.parse_args()
    table, usual = TABLES[given.what]
    table(given.count or usual, *given.layouts)
