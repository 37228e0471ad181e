"""Study with a known truth: its published numbers come from few runs of the simulator."""

import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from netcarlo.kernels.base.layout import Out
from netcarlo.scenario import load_scenario
from netcarlo.simulation.launches import Job
from netcarlo.simulation.simulate import simulate_all
from netcarlo.studies.cells import Cell, Samples
from netcarlo.studies.study import Study

TRUTH = {"capacity": 950.0, "delay": 100.0}
RUNS = 3
TCPS = ("tahoe", "reno")
LOSS = (0.0, 1.0, 2.0, 5.0)
SECONDS = 40

SCENARIO = """
duration: {seconds} s
transport: {{protocol: {tcp}, payload: 1000 B, window: 26 packets, start: {{uniform: [0 s, 0.1 s]}}}}
hops:
  - {{rate: {capacity:g} kbit/s, delay: {delay:g} ms, loss: 0.01, queue: 100 packets}}
"""

STUDY = """
title: A study whose truth is known
source: The simulator itself
question: Are the parameters found again?
replications: 20
seed: 1
scenario: "{tcp}.yaml"
conditions:
  tcp: {label: TCP}
  loss_percent: {label: Loss, unit: "%", set: {hops.0.loss: "{} %"}}
metrics: {goodput_kbps: packets received times their payload}
tolerance: []
calibration:
  parameters:
    capacity: {label: Capacity, unit: kbit/s, low: 900, high: 1000, step: 5}
    delay: {label: One-way delay, unit: ms, low: 60, high: 140, step: 2}
    ack_bytes: {label: Size of an acknowledgement, unit: B, low: 38, high: 42, step: 1}
    queue: {label: Queue, unit: packets, low: 90, high: 110, step: 1}
  set:
    hops.0.rate: "{capacity} kbit/s"
    hops.0.delay: "{2 * delay - delay} ms"
    hops.0.queue: "{queue} packets"
    transport.ack: "{ack_bytes} B"
  targets: {goodput_kbps: {relative: 0.005}}
  runs_behind_the_table: 3
  leave_out: [tcp, loss_percent]
  effort:
    {population: 5, generations: 8, replications: 6, finalists: 12, again: 16, final: 100, evaluation: 100}
"""


def goodput_kbps(cell: Cell) -> Samples:
    return cell.out(Out.RECEIVED) * 8 / SECONDS


def write(folder: Path, *, seed: int, **truth: float) -> Study:
    """Write the study into a folder of that name, with numbers from `RUNS` runs drawn by `seed`."""
    folder.mkdir()
    (folder / "study.yaml").write_text(STUDY)
    values = {**TRUTH, **truth}
    lines = ["tcp,loss_percent,metric,unit,published,step,kind"]
    for i, tcp in enumerate(TCPS):
        path = folder / f"{tcp}.yaml"
        path.write_text(SCENARIO.format(seconds=SECONDS, tcp=tcp, **values))
        scenarios = [
            load_scenario(path, values={"seed": 2 * seed + i, "hops.0.loss": loss / 100}) for loss in LOSS
        ]
        for loss, found in zip(LOSS, simulate_all([Job(s, 0, RUNS) for s in scenarios]), strict=True):
            goodput = np.mean(found.integers[:, Out.RECEIVED]) * 8 / SECONDS
            lines.append(f"{tcp},{loss},goodput_kbps,kbit/s,{goodput:.2f},0.01,printed")
    (folder / "published.csv").write_text("\n".join(lines) + "\n")
    return Study(folder, package=f"netcarlo.studies.{folder.name}")


def brief(study: Study) -> Study:
    """Return the study with few runs, which test the procedure and not the results."""
    effort = "population: 2, generations: 2, replications: 2, finalists: 2, again: 2, final: 4, evaluation: 4"
    path = study.folder / "study.yaml"
    path.write_text(path.read_text().split("  effort:")[0] + f"  effort: {{{effort}}}\n")
    return Study(study.folder, package=study.package)


def own_module(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """Install the metrics at the place where those of a study are searched."""
    module = ModuleType(f"netcarlo.studies.{name}.claims")
    module.METRICS = {"goodput_kbps": goodput_kbps}  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, module.__name__, module)
