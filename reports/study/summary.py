"""What the terminal shows after studies were reproduced."""

from collections.abc import Sequence
from pathlib import Path

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from netcarlo.reports.parts import words
from netcarlo.reports.study.verdict import verdict
from netcarlo.studies.evaluation import Evaluation


def summary(evaluations: Sequence[Evaluation], *, out: Path) -> RenderableType:
    """A table of the demands of each study, the verdicts, and where the reports are."""
    parts: list[RenderableType] = []
    for evaluation in evaluations:
        table = Table("demand", "reached", "", title=evaluation.study.name, title_justify="left")
        for check in evaluation.checks:
            style = "green" if check.passed else "bold red"
            table.add_row(check.text, check.reached, Text(words.demand(check.verdict), style=style))
        parts += [table, Text(verdict(evaluation)), Text(str(out / evaluation.study.name / "report.html"))]
    return Group(*parts, Text(str(out / "index.html")))
