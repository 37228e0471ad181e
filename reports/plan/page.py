"""Report of a plan: the answer, the probability curve, the requirements, and the effect of more resources."""

from typing import Any

from netcarlo.planning.ledger import Point
from netcarlo.planning.run import VERDICTS, Answer
from netcarlo.planning.search import FAILS, HOLDS, OPEN
from netcarlo.reports.page import page
from netcarlo.reports.parts import scales
from netcarlo.reports.plan import figures, wording


def plan_page(found: Answer) -> str:
    """The HTML of the report of an answer."""
    plan = found.plan
    return page(
        "plan.html",
        title=plan.name,
        plan=plan,
        quantity=wording.title(plan),
        verdict={"tone": _tone(found), "head": wording.headline(found), "text": wording.explanation(found)},
        warnings=found.warnings,
        outside=found.outside,
        tiles=_tiles(found),
        curve=figures.curve(found),
        requirements=wording.requirements(found),
        measures=[
            {
                "name": f"measure-{k}",
                "caption": f"{requirement.name}: value that {wording.share(requirement.probability)} of "
                "replications reach, and the bound (dashed). Green: this requirement holds; red: it fails.",
                "plot": figures.measure(found, k),
            }
            for k, requirement in enumerate(plan.requirements)
        ],
        gains=wording.gains(found),
        resources=figures.resources(found),
        points=_points(found),
        confidence=wording.share(plan.confidence),
        cost=wording.spent(found.cost),
        provenance=provenance(found.provenance, plan.command),
        source=plan.source,
    )


def _tone(found: Answer) -> str:
    if found.holds is None and found.fails is not None:
        return "bad"
    sure = found.holds is not None and not found.undecided and found.monotone
    return "good" if sure and not found.warnings else "open"


def _tiles(found: Answer) -> list[dict[str, str]]:
    plan = found.plan
    sure = f"with {wording.share(plan.confidence)}"
    return [
        {"label": "known to hold", "value": _value(found, found.holds), "of": sure},
        {"label": "known to fail", "value": _value(found, found.fails), "of": sure},
        {"label": "point estimate of the limit", "value": _likely(found), "of": ""},
        {"label": "active constraint", "value": found.binding or "none", "of": ""},
        {"label": "replications", "value": scales.count(found.cost["replications"]),
         "of": f"at {found.cost['values']} of {scales.count(found.cost['of_values'])} values"},
    ]  # fmt: skip


def _value(found: Answer, number: float | None) -> str:
    return "–" if number is None else wording.value(found.plan, number)


def _likely(found: Answer) -> str:
    return "–" if found.likely is None else wording.estimate(found.plan, found.likely)


def _points(found: Answer) -> list[dict[str, Any]]:
    return [
        {
            "value": wording.value(found.plan, point.value),
            "replications": scales.count(point.replications),
            **_badge(found, point),
            "shares": [
                {
                    "seen": wording.seen(found.plan, s.probability),
                    "band": wording.band(found.plan, s.low, s.high),
                }
                for s in point.shares
            ],
        }
        for point in found.curve
    ]


def _badge(found: Answer, point: Point) -> dict[str, str]:
    """The verdict of a value; that of an undecided one may follow from others."""
    if point.verdict == OPEN and point.value not in found.undecided:
        return {"verdict": "follows", "badge": "plain"}
    return {
        "verdict": VERDICTS[point.verdict],
        "badge": {HOLDS: "good", FAILS: "bad", OPEN: "open"}[point.verdict],
    }


def provenance(about: dict[str, Any], command: str) -> dict[str, str]:
    """Facts about what an answer came from, by name."""
    return {
        "model version": about["model_version"],
        "seed": f"{about['seed']}; the same random numbers at every value",
        "versions": ", ".join(f"{name} {version}" for name, version in about["versions"].items()),
        "target": about["target"],
        "command": command,
    }
