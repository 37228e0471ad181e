"""Summary of reproduced studies for the terminal."""

from collections.abc import Sequence
from pathlib import Path

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from netcarlo.reports.parts import wording
from netcarlo.reports.study.verdict import headline, verdict
from netcarlo.studies.evaluation import Evaluation


def summary(evaluations: Sequence[Evaluation], *, out: Path) -> RenderableType:
    """Return each study's outcome in counts, the table of its demands, and where its report is."""
    parts: list[RenderableType] = []
    for evaluation in evaluations:
        table = Table("demand", "reached", "")
        for check in evaluation.checks:
            style = "green" if check.passed else "bold red"
            reached = f"{check.reached}\n{check.history}" if check.history else check.reached
            table.add_row(check.text, reached, Text(wording.demand(check.verdict), style=style))
        answer = Text(f"{evaluation.study.name}: {headline(evaluation)}", style="bold")
        page = Text(str(out / evaluation.study.name / "report.html"))
        parts += [answer, table, Text(verdict(evaluation)), page]
    return Group(*parts, Text(str(out / "index.html")))
