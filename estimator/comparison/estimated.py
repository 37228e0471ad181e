"""Sides from estimates of single scenarios, simulated or read from the output of `netcarlo estimate
--json`."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from netcarlo.comparison.side import Side, cells, from_intervals, from_sd, setting_fields, versions
from netcarlo.errors import InputError
from netcarlo.estimation.estimate import Estimate
from netcarlo.networks.outcome import YES_NO, Outcome
from netcarlo.simulation import validated
from netcarlo.simulation.outcomes import BY_NAME, Outcomes, listed

SINGLE_CELL = cells([()])
"""Index of the only cell of an estimate."""


def of_outcomes(label: str, found: Outcomes, provenance: Mapping[str, Any], outside: str = "") -> Side:
    """Return the side of replications. `outside` is a sentence about quantities outside the validated
    range."""
    frame = found.frame
    names = [name for name in listed(frame) if name in frame and frame[name].notna().any()]
    columns = {name: frame[name].to_numpy(np.float64)[None] for name in names}
    spread = {name: BY_NAME[name].means(values) for name, values in columns.items()}
    return Side(
        label=label,
        kind="estimate",
        setting=_setting(provenance),
        axes={},
        quantities={name: BY_NAME[name] for name in names},
        estimates={name: from_sd(SINGLE_CELL, m.n, m.mean, m.sd) for name, m in spread.items()},
        samples={
            name: pd.DataFrame(values, index=SINGLE_CELL, columns=frame.index)
            for name, values in columns.items()
        },
        stream=_stream(provenance),
        outcomes=found,
        outside=outside,
    )


def of_estimate(label: str, found: Estimate) -> Side:
    """Return the side of an estimate. With a control variate, its corrected means are used, not its
    replications."""
    side = of_outcomes(label, found.outcomes, found.provenance, found.outside)
    if found.saving is None:
        return side
    tables = {"outcomes": found.table.to_dict("index"), "goals": found.goals.to_dict("index")}
    side = of_record(label, {**tables, "saving": True, "provenance": found.provenance})
    return replace(side, outside=found.outside)


def of_record(label: str, record: Mapping[str, Any]) -> Side:
    """Return the side of the JSON of an estimate, also of another version. Raises InputError if it is
    invalid."""
    try:
        found = {
            name: row for name, row in record["outcomes"].items() if row["n"] and row["mean"] is not None
        }
        tables = {name: _row(row, corrected=bool(record.get("saving"))) for name, row in found.items()}
        quantities = {name: BY_NAME.get(name) or Outcome(name, None, None, "") for name in found}
        for text, row in record["goals"].items():
            quantities[text] = Outcome(
                text, None, None, "fraction of replications that meet the goal", YES_NO
            )
            tables[text] = from_sd(SINGLE_CELL, [row["n"]], [row["probability"]], [np.nan])
        provenance = record["provenance"]
        return Side(
            label=label, kind="estimate", setting=_setting(provenance), axes={}, quantities=quantities,
            estimates=tables, stream=_stream(provenance), requested=_requested(record["goals"], quantities),
            outside=validated.of_record(record.get("outside_validated_range")),
        )  # fmt: skip
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise InputError(
            f"{label}: is not a result of netcarlo estimate --json ({type(error).__name__}: {error}); "
            "run netcarlo estimate --json again"
        ) from None


def _requested(goals: Iterable[str], quantities: Mapping[str, Outcome]) -> tuple[str, ...]:
    """Return the quantities that goals request: their outcomes, and the goals themselves."""
    outcomes = dict.fromkeys(text.split()[0] for text in goals)
    return (*(name for name in outcomes if name in quantities), *goals)


def _row(row: Mapping[str, Any], *, corrected: bool) -> pd.DataFrame:
    n, mean, sd = ([np.nan if row[key] is None else row[key]] for key in ("n", "mean", "sd"))
    if not corrected:
        return from_sd(SINGLE_CELL, n, mean, sd)
    low, high = ([np.nan if row[key] is None else row[key]] for key in ("ci_low", "ci_high"))
    return from_intervals(SINGLE_CELL, n, mean, low, high, [n[0] - 1])


def _setting(provenance: Mapping[str, Any]) -> dict[str, str]:
    scenario = {name: value for name, value in provenance["scenario"].items() if name != "precision"}
    setting = versions(provenance["versions"], provenance.get("model_version")) | {
        "seed": str(provenance["seed"]),
        "replications": str(provenance["replications"]),
    }
    for name, text in setting_fields(scenario).items():
        is_file = name == "transport.congestion_control" and "congestion_control_sha256" in provenance
        sha = provenance.get("congestion_control_sha256", "")[:12]
        setting.setdefault(name, f"{Path(text).name} ({sha})" if is_file else text)
    return setting


def _stream(provenance: Mapping[str, Any]) -> str:
    return f"{provenance['seed']} {provenance['scenario'].get('topology', 0)}"
