"""The answer of `netcarlo estimate`: what was simulated, headline outcomes and a table of all outcomes."""

from collections.abc import Sequence
from typing import NamedTuple

from netcarlo.estimation.estimate import Estimate
from netcarlo.reports.estimate.groups import grouped
from netcarlo.reports.estimate.headline import Found, Line, headline
from netcarlo.reports.parts import values
from netcarlo.reports.parts.causes import zero_by_construction
from netcarlo.reports.parts.simulated import simulated


class Row(NamedTuple):
    """A row of the table of outcomes: texts, and how many replications have the outcome."""

    name: str
    mean: str
    interval: str
    """95 % interval of the mean, in the unit of the mean."""
    quantiles: str
    """5 % and 95 % quantiles of the replications."""
    n: int


class Answer(NamedTuple):
    """Texts about an estimate."""

    sentence: str
    lines: Sequence[Line]
    groups: dict[str, list[Row]]
    """Rows of the table by group."""
    outcomes: int
    """Number of measured outcomes, those that are not in the table included."""


def answer(found: Estimate, *, every: bool = False) -> Answer:
    """Return the answer of an estimate.

    The table leaves out outcomes that are zero by construction, unless `every` one is asked for.
    """
    frame = found.outcomes.frame
    return answer_of(Found(found.scenario, frame, found.table), every=every)


def answer_of(found: Found, *, every: bool = False) -> Answer:
    """Return the answer of replications of a scenario, see `answer`."""
    names = [str(name) for name in found.table.index if found.has(str(name))]
    left_out = frozenset() if every else zero_by_construction(found.scenario, found.frame)
    shown = grouped(name for name in names if name not in left_out)
    groups = {title: [_row(found, name) for name in some] for title, some in shown.items()}
    return Answer(simulated(found.scenario, found.n), headline(found), groups, len(names))


def goals(found: Estimate) -> list[Line]:
    """Return how often each goal of an estimate is met, a line for each."""
    lines = []
    for goal, row in found.goals.iterrows():
        low, high = (100 * float(row[end]) for end in ("ci_low", "ci_high"))
        interval = f"{low:.3g} to {high:.3g}"
        share = f"{100 * float(row['probability']):.3g} %"
        of = "of the replications" + (f": {row['verdict']}" if "verdict" in row else "")
        lines.append(Line(str(goal), share, interval, of))
    return lines


def _row(found: Found, name: str) -> Row:
    mean = values.row(found.table, name)
    texts = values.shown(name, mean)
    ends = (float(found.table[quantile][name]) for quantile in ("q05", "q95"))
    quantiles = values.spread(name, mean, *ends) if found.n > 1 else ""
    return Row(name, texts.value, texts.interval, quantiles, mean.n)
