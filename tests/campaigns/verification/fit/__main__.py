"""Fit of iperf3 runs over the running kernel's TCP with known rate, delay, queue and loss.

    python -m tests.campaigns fit --runs DIR 40

Measures runs of 10 s on emulated paths (`runs.drawn`), fits each by itself with the ranges in `FREE`, and
prints errors and coverage of the 95 % intervals for each field. With `--scales` it estimates the scales of
the model's errors instead, which must come from other runs than the coverage. It needs root, gcc and iperf3,
and runs in real time. Measured runs and fits that exist in DIR are kept.
"""

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

from netcarlo import fit
from netcarlo.calibration.fit.result import Fitted
from tests.campaigns import parser
from tests.campaigns.verification.fit.runs import FREE, Truth, drawn, produce, scenario, true_values
from tests.campaigns.verification.fit.scales import estimated

NAMES = ("rate", "delay", "queue", "loss")
"""Last parts of the names of the fitted fields."""


def main() -> int:
    """Measure, fit, and print the tables."""
    arguments = parser(__doc__)
    arguments.add_argument("count", type=int, nargs="?", default=40)
    arguments.add_argument("--runs", type=Path, required=True, metavar="DIR")
    arguments.add_argument("--seed", type=int, default=1)
    arguments.add_argument("--effort", type=float, default=1.0)
    arguments.add_argument("--measured", action="store_true", help="fit only the runs that are measured")
    arguments.add_argument("--scales", action="store_true", help="estimate the scales of the model's errors")
    given = arguments.parse_args()
    truths = drawn(given.count, seed=given.seed)
    if not given.measured:
        produce(truths, given.runs, seed=given.seed)
    if given.scales:
        print(*estimated(truths, given.runs))
        return 0
    found = []
    for truth in truths:
        if (given.runs / f"run_{truth.id:02d}.truth.json").exists():
            found.append(evaluated(truth, given.runs, effort=given.effort))
            print(line(found[-1]), file=sys.stderr, flush=True)
    print("\n".join(tables(found)))
    return 0


def evaluated(truth: Truth, folder: Path, *, effort: float) -> dict[str, Any]:
    """Return truth and fit of a run as data; a fit that is in the folder already is read."""
    kept = folder / f"run_{truth.id:02d}.fit.json"
    if not kept.exists():
        measured = folder / f"run_{truth.id:02d}.json"
        found = fit(scenario(truth), [measured], free=FREE, effort=effort)
        kept.write_text(json.dumps(compared(truth, found), indent=1) + "\n")
    data: dict[str, Any] = json.loads(kept.read_text())
    return data | {"truth": truth._asdict()}


def compared(truth: Truth, found: Fitted) -> dict[str, Any]:
    """Return the fields of a fit beside the truth."""
    fields = {}
    for one in found.parameters:
        name = one.free.name.rpartition(".")[2]
        true = true_values(truth)[name]
        fields[name] = {
            "true": true, "value": one.value, "low": one.low, "high": one.high, "verdict": one.verdict,
            "covered": bool(one.low <= true <= one.high),
        }  # fmt: skip
    return {
        "truth": truth._asdict(), "fields": fields, "fit_ratio": found.fit_ratio, "wall_s": found.wall_s,
        "errors": [one._asdict() for one in found.errors],
    }  # fmt: skip


def line(row: dict[str, Any]) -> str:
    """Return one run in a line."""
    fields = ", ".join(
        f"{name} {one['value']:.4g} ({one['low']:.4g} to {one['high']:.4g}, true {one['true']:.4g})"
        + ("" if one["covered"] else " MISSED")
        for name, one in row["fields"].items()
    )
    return f"run {row['truth']['id']} {row['truth']['control']}: {fields}; ratio {row['fit_ratio']:.2f}"


def tables(rows: list[dict[str, Any]]) -> list[str]:
    """Return Markdown tables of errors, coverage and widths, for both kinds of bottlenecks and in all."""
    groups = {
        "emulated drop-tail link": [row for row in rows if not row["truth"]["shaped"]],
        "tbf": [row for row in rows if row["truth"]["shaped"]],
        "all": rows,
    }
    said = []
    for title, some in groups.items():
        if some:
            said += [
                f"| {title}, {len(some)} runs | determined | median error | 90 % error | median width "
                "| bounded | not | in the interval |",
                "|---|---|---|---|---|---|---|---|",
                *(_field(name, [row["fields"][name] for row in some]) for name in NAMES),
                "",
            ]
    inside = [one["covered"] for row in rows for one in row["fields"].values()]
    said.append(f"In all {sum(inside)} of {len(inside)} intervals contain the truth.")
    return said


def _field(name: str, fits: list[dict[str, Any]]) -> str:
    determined = [one for one in fits if one["verdict"] == "determined"]
    errors = [abs(one["value"] / one["true"] - 1) for one in determined if one["true"] > 0]
    widths = [(one["high"] - one["low"]) / one["value"] for one in determined]
    counts = [
        sum(one["verdict"].startswith(word) for one in fits) for word in ("determined", "bounded", "not")
    ]
    size = [f"{100 * float(np.quantile(errors, share)):.2g} %" if errors else "" for share in (0.5, 0.9)]
    width = f"{100 * float(np.median(widths)):.2g} %" if widths else ""
    covered = sum(one["covered"] for one in fits)
    cells = [name, counts[0], *size, width, counts[1], counts[2], f"{covered} of {len(fits)}"]
    return f"| {' | '.join(map(str, cells))} |"
