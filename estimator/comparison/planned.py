"""Sides from the `result.json` of plans: the answer, and the probability that each requirement holds.

Their bands are simultaneous for all values and all tests, so they need no further adjustment.
"""

import math
from collections.abc import Mapping
from typing import Any

import pandas as pd

from netcarlo.comparison.side import Cell, Side, cells, setting_fields, versions
from netcarlo.errors import InputError
from netcarlo.networks.outcome import ANY, SHARE, Outcome
from netcarlo.simulation import validated

LIMIT = "limit"
"""Name of the quantity that is the answer: the last value at which all requirements hold."""


def of_record(label: str, record: Mapping[str, Any]) -> Side:
    """Return the side of a result with one or two quantities. Raises InputError if it is invalid."""
    try:
        return _side(label, record)
    except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
        raise InputError(
            f"{label}: is not a result of netcarlo plan ({type(error).__name__}: {error}); plan it again"
        ) from None


def _side(label: str, record: Mapping[str, Any]) -> Side:
    answers: list[Mapping[str, Any]] = record.get("answers") or [record]
    across = record.get("across")
    first = answers[0]
    quantity, unit = first["quantity"], first["unit"]
    rows: dict[str, list[tuple[Cell, int, float, float, float]]] = {LIMIT: []}
    for answer in answers:
        at = () if across is None else (answer["across"],)
        n = sum(point["replications"] for point in answer["curve"])
        likely = math.nan if answer["likely"] is None else answer["likely"]
        rows[LIMIT].append(((*at, ""), n, likely, *_ends(answer)))
        for point in answer["curve"]:
            for name, share in point["requirements"].items():
                found = (share["probability"], share["low"], share["high"])
                rows.setdefault(name, []).append(((*at, point["value"]), point["replications"], *found))
    about = first["provenance"]
    setting = versions(about["versions"], about["model_version"]) | {
        "seed": str(about["seed"]), "fidelity": first["fidelity"], "quantity": quantity,
        "find": first["find"], "confidence": str(first["confidence"]),
    }  # fmt: skip
    for name, asked in first["requirements"].items():
        setting[f"requirement {name}"] = f"{asked['goal']}, {asked['probability']}"
    for name, text in setting_fields(about.get("scenario", {})).items():
        setting.setdefault(name, text)
    axes = {quantity: unit} if across is None else {across: record["across_unit"], quantity: unit}
    quantities = {name: Outcome(name, None, None, "probability that it holds", SHARE) for name in rows}
    words = f"{first['find']} {quantity.replace('_', ' ')} that meets all requirements"
    quantities[LIMIT] = Outcome(LIMIT, None, None, words, ANY, words, unit)
    tables = {
        name: pd.DataFrame(
            [row[1:] for row in found], columns=["n", "mean", "low", "high"], index=cells(r[0] for r in found)
        )
        for name, found in rows.items()
    }
    outside = [one for answer in answers for one in answer.get("outside_validated_range") or []]
    return Side(
        label, "plan", setting, axes, quantities, tables,
        requested=tuple(quantities), outside=validated.of_record(outside),
    )  # fmt: skip


def _ends(answer: Mapping[str, Any]) -> tuple[float, float]:
    """Return the interval that contains the last value that holds; an end that is unknown is infinite."""
    holds, fails, between = answer["holds"], answer["fails"], answer["undecided"]
    largest = answer["find"] == "largest"
    none = -math.inf if largest else math.inf  # no value holds
    best = (max if largest else min)(between, default=None)
    sure = none if holds is None else holds
    far = -none if fails is None else sure if best is None else best
    return (sure, far) if largest else (far, sure)
