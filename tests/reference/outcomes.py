"""Reference page of all outcomes."""

from collections.abc import Iterable, Iterator

from netcarlo.networks import classes
from netcarlo.networks.outcome import ANY, SHARE, YES_NO, Outcome, declared, dimension
from netcarlo.networks.registry import KINDS
from netcarlo.networks.relations import RELATIONS, RUN
from netcarlo.schema.readable import FRACTION
from tests.reference.markdown import KNOWN, page, table

NETWORKS = {
    "paths": "Paths", "wireless": "802.11 networks", "adhoc": "Ad hoc networks", "shared": "Shared links"
}  # fmt: skip
INTRODUCTION = """\
What is measured in every replication, and what estimates, goals, sweeps, plans and comparisons name. Values
are in the unit that is named; a *number* is one of packets or events unless its meaning says otherwise.
*Better* says whether more of it is, or less. A time that did not happen is missing, and not 0. Each kind of
network has those outcomes of paths that make sense there, and its own. Files: [fields](fields.md).
"""
CLASSES = """\
Where flows name a `class`, each class has these; of `class: video` they are `video_mean_delay_s` and so on
([how](../models/delays.md)).
"""
RELATED = """\
These hold in every replication, between the outcomes of a run, of a class of flows, and of a flow or a link.
Outcomes that a network does not have count as 0, but if the first outcome of a sum is missing, the relation
says nothing. Beside outcomes they name:
"""
HEAD = "outcome", "unit", "better", "meaning"


def unit(outcome: Outcome) -> str:
    """Return the unit of an outcome."""
    if outcome.values in (SHARE, YES_NO) or outcome.unit == FRACTION or outcome.meaning.startswith("share"):
        return "share"
    return outcome.unit or dimension(outcome.name).unit or "number"


def outcomes_page() -> str:
    """Return the reference page of all outcomes."""
    lines = ["# Outcomes", "", KNOWN, "", INTRODUCTION]
    for kind in KINDS:
        lines += [f"## {NETWORKS[kind.key]}", "", *table(HEAD, _rows(declared(kind.outcomes)))]
    lines += ["## Classes of flows", "", CLASSES, *table(HEAD, _rows(classes.KINDS, "CLASS_"))]
    return page(
        [
            *lines,
            "## Relations",
            "",
            RELATED,
            *table(("name", "meaning"), _of_runs()),
            *table(("relation", "where"), _relations()),
        ]
    )


def _of_runs() -> Iterator[tuple[str, str]]:
    return ((f"`{name}`", text) for name, text in RUN.items())


def _relations() -> Iterator[tuple[str, str]]:
    for relation in RELATIONS:
        where = ["without a warm-up"] if relation.since_start else []
        where += [f"not in {NETWORKS[relation.but]}"] if relation.but else []
        yield f"`{relation.text}`", "; ".join(where)


def _rows(found: Iterable[Outcome], before: str = "") -> Iterator[tuple[str, ...]]:
    for outcome in found:
        sign = "; may be negative" if outcome.values == ANY else ""
        yield f"`{before}{outcome.name}`", unit(outcome), outcome.better or "", outcome.meaning + sign
