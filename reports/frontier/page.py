"""The report of a plan of two quantities: the answer first, then the border, costs, and the values."""

from netcarlo.planning.designs import Frontier
from netcarlo.reports.frontier import figures, wording
from netcarlo.reports.page import page
from netcarlo.reports.parts import scales
from netcarlo.reports.plan import wording as of_plan
from netcarlo.reports.plan.page import provenance


def frontier_page(found: Frontier) -> str:
    """The HTML of the report of a frontier."""
    plan = found.plan
    return page(
        "frontier.html",
        title=plan.name,
        plan=plan,
        quantity=of_plan.title(plan),
        across=wording.title(found),
        verdict={"tone": _tone(found), "head": wording.headline(found), "text": wording.explanation(found)},
        warnings=found.warnings,
        outside=found.outside,
        tiles=_tiles(found),
        goals=[
            {
                "name": requirement.name,
                "goal": of_plan.goal(plan, k),
                "asked": of_plan.share(requirement.probability),
            }
            for k, requirement in enumerate(plan.requirements)
        ],
        border=figures.border(found),
        costs=figures.costs(found),
        rows=wording.rows(found),
        confidence=of_plan.share(plan.confidence),
        cost=of_plan.spent(found.cost),
        provenance=provenance(found.answers[0].provenance, plan.command),
        source=plan.source,
    )


def _tone(found: Frontier) -> str:
    if not any(answer.holds is not None for answer in found.answers):
        return "bad"
    whole = not found.missing and not any(answer.undecided for answer in found.answers)
    return "good" if whole and not found.warnings else "open"


def _tiles(found: Frontier) -> list[dict[str, str]]:
    plan, best, least = found.plan, found.cheapest, found.least
    tiles = []
    if best is not None:
        of = f"{wording.design(found, best)}"
        label = "cheapest so far" if found.provisional else "cheapest known to hold"
        tiles.append({"label": label, "value": wording.price(found, best.cost), "of": of})
    if least is not None:
        of = f"with {of_plan.share(plan.confidence)}"
        tiles.append({"label": "none costs less than", "value": wording.price(found, least.cost), "of": of})
    return [
        *tiles,
        {"label": f"values of {wording.title(found)}", "value": str(len(found.answers)),
         "of": f"of {len(plan.designs)}"},
        {"label": "replications", "value": scales.count(found.cost["replications"]),
         "of": f"at {found.cost['values']} of {scales.count(found.cost['of_values'])} designs"},
    ]  # fmt: skip
