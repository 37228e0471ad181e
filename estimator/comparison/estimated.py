"""Estimates of single scenarios as sides: simulated now, or from what `netcarlo estimate --json` printed."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from netcarlo.comparison.side import Side, cells, of_intervals, of_spread, versions, written
from netcarlo.errors import InputError
from netcarlo.estimation.estimate import Estimate
from netcarlo.networks.outcome import YES_NO, Outcome
from netcarlo.simulation import validated
from netcarlo.simulation.outcomes import BY_NAME, Outcomes, listed

HERE = cells([()])
"""The only cell."""


def of_outcomes(label: str, found: Outcomes, provenance: Mapping[str, Any], outside: str = "") -> Side:
    """The side of replications; `outside` is what leaves the validated range, in a line."""
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
        estimates={name: of_spread(HERE, m.n, m.mean, m.sd) for name, m in spread.items()},
        samples={
            name: pd.DataFrame(values, index=HERE, columns=frame.index) for name, values in columns.items()
        },
        stream=_stream(provenance),
        outcomes=found,
        outside=outside,
    )


def of_estimate(label: str, found: Estimate) -> Side:
    """The side of an estimate; one with a control has corrected means: its replications do not count."""
    side = of_outcomes(label, found.outcomes, found.provenance, found.outside)
    if found.saving is None:
        return side
    tables = {"outcomes": found.table.to_dict("index"), "goals": found.goals.to_dict("index")}
    side = of_record(label, {**tables, "saving": True, "provenance": found.provenance})
    return replace(side, outside=found.outside)


def of_record(label: str, record: Mapping[str, Any]) -> Side:
    """The side of the JSON of an estimate, perhaps by another version; InputError for an altered one."""
    try:
        found = {
            name: row for name, row in record["outcomes"].items() if row["n"] and row["mean"] is not None
        }
        tables = {name: _row(row, corrected=bool(record.get("saving"))) for name, row in found.items()}
        quantities = {name: BY_NAME.get(name) or Outcome(name, None, None, "") for name in found}
        for text, row in record["goals"].items():
            quantities[text] = Outcome(text, None, None, "how often it is met", YES_NO)
            tables[text] = of_spread(HERE, [row["n"]], [row["probability"]], [np.nan])
        provenance = record["provenance"]
        return Side(
            label=label, kind="estimate", setting=_setting(provenance), axes={}, quantities=quantities,
            estimates=tables, stream=_stream(provenance), asked=_asked(record["goals"], quantities),
            outside=validated.of_record(record.get("outside_validated_range")),
        )  # fmt: skip
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise InputError(
            f"{label}: is no result of netcarlo estimate --json ({type(error).__name__}: {error})"
        ) from None


def _asked(goals: Iterable[str], quantities: Mapping[str, Outcome]) -> tuple[str, ...]:
    """The outcomes of goals, and how often each is met."""
    outcomes = dict.fromkeys(text.split()[0] for text in goals)
    return (*(name for name in outcomes if name in quantities), *goals)


def _row(row: Mapping[str, Any], *, corrected: bool) -> pd.DataFrame:
    n, mean, sd = ([np.nan if row[key] is None else row[key]] for key in ("n", "mean", "sd"))
    if not corrected:
        return of_spread(HERE, n, mean, sd)
    low, high = ([np.nan if row[key] is None else row[key]] for key in ("ci_low", "ci_high"))
    return of_intervals(HERE, n, mean, low, high, [n[0] - 1])


def _setting(provenance: Mapping[str, Any]) -> dict[str, str]:
    scenario = {name: value for name, value in provenance["scenario"].items() if name != "precision"}
    setting = versions(provenance["versions"], provenance.get("model_version")) | {
        "seed": str(provenance["seed"]),
        "replications": str(provenance["replications"]),
    }
    for name, text in written(scenario).items():
        is_file = name == "transport.congestion_control" and "congestion_control_sha256" in provenance
        sha = provenance.get("congestion_control_sha256", "")[:12]
        setting.setdefault(name, f"{Path(text).name} ({sha})" if is_file else text)
    return setting


def _stream(provenance: Mapping[str, Any]) -> str:
    return f"{provenance['seed']} {provenance['scenario'].get('topology', 0)}"
