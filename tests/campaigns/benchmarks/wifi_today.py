"""Simulated seconds per second of processor time of 802.11n, ac and ax, compared with ns-3, row by row.

    python -m tests.campaigns wifi_today ns3_wifi_today.csv [ID ...]

Prints the tables of docs/results/speed-wifi-today.md.  Both simulate the same cells on one core, in turn.
Times exclude compilation, and start-up and association of ns-3 (`apt-get install libns3-dev libgsl-dev g++`).
The goodput of ns-3 beside the reference shows that its program (ns3_today.cc) simulates the same cell.
"""

import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from netcarlo.estimation.reference import ReferenceRow, load_mapping, read_rows
from netcarlo.kernels.runtime import launch
from netcarlo.simulation.ensemble import build
from netcarlo.simulation.launches import model_of
from netcarlo.simulation.outcomes import outcomes
from tests.campaigns import parser
from tests.campaigns.benchmarks import ns3
from tests.campaigns.benchmarks.wifi import seconds

MAPPING = "ns3_wifi_today"
ROWS = "8", "32", "112", "70", "84"
"""One saturated station, ten, video beside best effort, a constant rate, and TCP."""
ROUNDS = 3
BATCH = 100
"""Number of replications per launch."""


class Found(NamedTuple):
    """Simulated seconds per second of processor time, and goodput [Mbit/s] of each group of flows."""

    simulated_s: float
    goodput_mbps: list[float]


def options(columns: Mapping[str, Any]) -> dict[str, object]:
    """Return the arguments of ns3_today.cc of a row of the reference.  Raises ValueError."""
    unequal = not isinstance(columns["mcs"], int | float)
    if columns["mpdu_error_prob"] or columns["amsdu_max_bytes"] or unequal:
        raise ValueError(f"row {columns['id']}: MPDU errors, A-MSDUs and several MCS are not supported")
    found: dict[str, object] = {
        "standard": columns["std"], "width": columns["width_mhz"], "streams": columns["nss"],
        "guard": columns["gi_ns"], "stations": columns["n_stations"], "mcs": columns["mcs"],
        "ampdu": columns["ampdu_max_bytes"], "window": columns["ba_window"], "rts": columns["rts_cts"],
        "request": columns["bar_after_missed_ba"], "queue": columns["queue_limit_pkts"],
        "warm": columns["warmup_s"], "duration": columns["duration_s"], "wire": columns["wired_owd_ms"],
        "control": columns["tcp_cc"], "ssthresh": columns["tcp_initial_ssthresh_bytes"],
    }  # fmt: skip
    for group in groups(columns):
        names = {"direction": "dir", "traffic": "traffic", "category": "ac", "payload": "payload_bytes"}
        found |= {f"{group}_{name}": columns[f"{group}_{column}"] for name, column in names.items()}
        found[f"{group}_rate"] = columns[f"{group}_mbps_per_flow"]
    return {name: value for name, value in found.items() if is_there(value)}


def groups(columns: Mapping[str, Any]) -> list[str]:
    """Return the groups of flows of a row."""
    return [group for group in ("g1", "g2") if is_there(columns[f"{group}_traffic"])]


def is_there(value: Any) -> bool:
    """Return whether a cell of the reference is not empty, which is NaN."""
    return bool(value == value)


def of_ns3(program: Path, columns: Mapping[str, Any]) -> Found:
    """Return the results of ns-3: the best of some runs, the mean of their goodputs."""
    given = options(columns)
    _, start_s = ns3.run_cell(program, **given | {"warm": 0, "duration": 0})
    runs = [ns3.run_cell(program, **given, seed=seed) for seed in range(1, ROUNDS + 1)]
    duration_s = float(given["warm"]) + float(given["duration"])  # type: ignore[arg-type]
    found = [sum(values) / ROUNDS for values in zip(*(goodput for goodput, _ in runs), strict=True)]
    return Found(duration_s / (min(seconds for _, seconds in runs) - start_s), found)


def of_netcarlo(row: ReferenceRow, *, replications: int) -> Found:
    """Return the results of netcarlo: the best of some launches of this number of replications."""
    ensemble = build(row.scenario, replications=replications)
    model = model_of(row.scenario)
    out = launch.run(model, ensemble.rows, threads=1)
    best = min(seconds(model, ensemble.rows) for _ in range(ROUNDS))
    frame = outcomes(row.scenario.network, out, *ensemble).frame
    flows = row.columns["n_stations"]
    found = [float(frame[f"{group}_mean_flow_bps"].mean()) * flows / 1e6 for group in groups(row.columns)]
    return Found(replications * float(row.scenario.duration) / best, found)  # type: ignore[arg-type]


def main() -> None:
    """Print the tables."""
    arguments = parser(__doc__)
    arguments.add_argument("reference", type=Path)
    arguments.add_argument("rows", nargs="*", default=ROWS, metavar="ID")
    given = arguments.parse_args()
    rows = {row.id: row for row in read_rows(given.reference, load_mapping(MAPPING))}
    print("| row | kind | ns-3 | netcarlo, 1 replication | ratio | netcarlo, batch | ratio |")
    print("|---|---|---|---|---|---|---|")
    goodputs = []
    with tempfile.TemporaryDirectory() as folder:
        program = ns3.compiled(Path(ns3.__file__).with_name("ns3_today.cc"), Path(folder))
        for name in given.rows:
            row = rows[name]
            columns = row.columns
            theirs = of_ns3(program, columns)
            one, many = (of_netcarlo(row, replications=count) for count in (1, BATCH))
            print(
                f"| {name} | {columns['kind']}, {columns['std']} | {theirs.simulated_s:.2f} | "
                f"{one.simulated_s:.0f} | {one.simulated_s / theirs.simulated_s:.0f} | "
                f"{many.simulated_s:.0f} | {many.simulated_s / theirs.simulated_s:.0f} |",
                flush=True,
            )
            for k, group in enumerate(groups(columns)):
                reference, error = (columns[f"{group}_goodput_mbps_{end}"] for end in ("mean", "se"))
                goodputs.append(
                    f"| {name} | {columns[f'{group}_ac']} | {reference:.2f} ± {error:.2g} | "
                    f"{theirs.goodput_mbps[k]:.2f} | {many.goodput_mbps[k]:.2f} |"
                )
    print("\n| row | category | reference [Mbit/s] | ns-3 here | netcarlo |\n|---|---|---|---|---|")
    print("\n".join(goodputs))
