"""Writes the folder of a reproduced study: its report, tables and provenance; and the index of studies."""

import json
import shlex
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from netcarlo.reports.page import page
from netcarlo.reports.parts import wording
from netcarlo.reports.parts.tables import claims_csv, comparison_csv
from netcarlo.reports.parts.write import write_all
from netcarlo.reports.study.page import study_page
from netcarlo.reports.study.verdict import in_a_line, tiles, verdict
from netcarlo.schema.document import read_text
from netcarlo.simulation.provenance import model_version, versions
from netcarlo.studies.evaluation import Evaluation

FILES = ("report.html", "comparison.csv", "claims.csv", "provenance.json")
"""Names of the files written for each study."""

FORMAT = 4
"""Format number of provenance.json, from which the index page is made."""


def write_study(evaluation: Evaluation, out: Path) -> None:
    """Write the report of a study into its folder in `out`, and `out`/index.html anew.

    A study's folder holds report.html, comparison.csv, claims.csv and provenance.json.
    Raises InputError, or MachineError where the disk is full.
    """
    record = _provenance(evaluation)
    files = {
        "report.html": study_page(evaluation, provenance=_shown(record)),
        "comparison.csv": comparison_csv(evaluation),
        "claims.csv": claims_csv(evaluation),
        "provenance.json": json.dumps(record, indent=2, ensure_ascii=False) + "\n",
    }
    write_all(out / evaluation.study.name, files)
    write_all(out, {"index.html": index_page(out)})


def index_page(out: Path) -> str:
    """The HTML of the page that lists every study reproduced in this folder."""
    files = sorted(out.glob("*/provenance.json"))
    records = [record for file in files if (record := _earlier(file))]
    return page(
        "index.html",
        title="Reproduced studies",
        plots=False,
        studies=records,
        met=sum(record["passed"] for record in records),
        totals={
            name: sum(record["line"][name] for record in records)
            for name in (
                "numbers", "fitted", "digits", "near", "claims", "held", "missed", "undecided", "untestable"
            )
        },
        seconds=sum(record["simulated_s"] for record in records),
        version=versions()["netcarlo"],
    )


def _earlier(path: Path) -> dict[str, Any] | None:
    """The record of a reproduction; None if there is none, or none of this format."""
    try:
        record: dict[str, Any] = json.loads(read_text(path))
        return record if record["format"] == FORMAT else None
    except (ValueError, KeyError, TypeError):
        return None


def _provenance(evaluation: Evaluation) -> dict[str, Any]:
    description = evaluation.study.description
    return {
        "format": FORMAT,
        "name": evaluation.study.name,
        "title": description.title,
        "source": description.source,
        "question": description.question,
        "passed": evaluation.passed,
        "verdict": verdict(evaluation),
        "line": in_a_line(evaluation),
        "tiles": tiles(evaluation),
        "checks": [
            {
                "demand": c.text, "reached": c.reached, "verdict": wording.demand(c.verdict),
                "history": c.history,
            }
            for c in evaluation.checks
        ],
        "command": shlex.join(["netcarlo", *sys.argv[1:]]),
        "replications": evaluation.replications,
        "seed": evaluation.seed,
        "target": evaluation.target,
        "simulated_s": round(evaluation.simulated_s, 2),
        "versions": versions(),
        "model_version": model_version(),
        "written": datetime.now(UTC).isoformat(timespec="seconds"),
        "scenarios": {
            path.name: path.read_text(encoding="utf-8") for path in evaluation.study.scenario_files()
        },
    }


def _shown(record: dict[str, Any]) -> dict[str, str]:
    return {
        "command": record["command"],
        "replications": f"{record['replications']} a cell, numbered from 0",
        "seed": str(record["seed"]),
        "target": record["target"],
        "simulated in": f"{record['simulated_s']} s, compilation included where the cache was empty",
        "versions": ", ".join(f"{name} {version}" for name, version in record["versions"].items()),
        "written": record["written"],
    }
