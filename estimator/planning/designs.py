"""Plans of two quantities: the answer at each value of the second one, and the cost of each design."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from netcarlo.errors import InputError
from netcarlo.planning.definition import Plan
from netcarlo.planning.file import Asked, as_plan
from netcarlo.planning.run import Answer, Progress, answers, json_data
from netcarlo.schema.arguments import checked
from netcarlo.schema.output import captioned


class Design(NamedTuple):
    """Design: a value of each of the two quantities, in SI units, and their cost."""

    beside: float
    """Value of the second quantity."""
    value: float
    """Value of the planned quantity."""
    cost: float
    """Cost of both values, by the plan's expression `cost`."""


@dataclass(frozen=True)
class Frontier:
    """Result of a plan of two quantities. The plan's confidence is that all its answers are correct."""

    plan: Plan
    """Plan that was answered."""
    answers: list[Answer]
    """Answer at each evaluated value of the second quantity, in increasing order of these values."""

    @property
    def stopped(self) -> str:
        """Reason for an early stop, such as `after 60 s`; empty if there was none."""
        return self.answers[-1].stopped

    @property
    def cost(self) -> dict[str, Any]:
        """Totals over the answers by name: `replications` used, of them `simulated` in this call, `values`
        with replications, `of_values` in the plan, and `seconds` of computing."""
        spent = [answer.cost for answer in self.answers]
        found = {name: sum(one[name] for one in spent) for name in spent[0]}
        values = sum(len(design.values) for design in self.plan.designs)
        return found | {"of_values": values, "damaged": spent[-1]["damaged"]}

    @property
    def decided(self) -> bool:
        """True if at least one value is known to hold or to fail."""
        return any(answer.decided for answer in self.answers)

    @property
    def cheapest(self) -> Design | None:
        """Design of least cost that is known to hold; None if no design is, or the plan has no `cost`."""
        return min(_designs(self.answers, sure=True), key=lambda design: design.cost, default=None)

    @property
    def least(self) -> Design | None:
        """Design of least cost that is not known to fail: with the plan's confidence, no design that holds is
        cheaper. Includes designs that were not evaluated. None if all fail, or the plan has no `cost`."""
        open_ = [*_designs(self.answers, sure=False), *_all_designs(self.missing)]
        return min(open_, key=lambda design: design.cost, default=None)

    @property
    def missing(self) -> list[Plan]:
        """Plans at the values of the second quantity that were not evaluated because of an early stop."""
        return [*self.plan.designs[len(self.answers) :]]

    @property
    def provisional(self) -> bool:
        """True if a design that is undecided or was not evaluated could be cheaper than `cheapest`."""
        best, least = self.cheapest, self.least
        return best is not None and least is not None and least.cost < best.cost

    @property
    def answer(self) -> Answer | None:
        """Answer that has the cheapest design; in a plan without costs, the one with the largest `holds` (the
        smallest if the plan looks for the smallest value). None if no design holds."""
        best = self.cheapest
        known = [answer for answer in self.answers if answer.holds is not None]
        if best is not None:
            return next(a for a in known if a.plan.beside and a.plan.beside.value == best.beside)
        most = self.plan.spec.find == "largest"
        return (max if most else min)(known, key=lambda answer: answer.holds or 0.0, default=None)

    @property
    def warnings(self) -> list[str]:
        """Warnings about the interpretation of `answer`, a sentence each."""
        return [] if self.answer is None else self.answer.warnings

    @property
    def outside(self) -> str:
        """Sentence that names the quantities of `answer` outside the validated range; empty inside the
        range."""
        return "" if self.answer is None else self.answer.outside

    def __repr__(self) -> str:
        """Return the name of the plan, its quantities and the cheapest design in one line."""
        assert self.plan.across is not None
        evaluated = f"{len(self.answers)} of {len(self.plan.designs)}" if self.missing else len(self.answers)
        known = f"{self.plan.quantity} at {evaluated} values of {self.plan.across.name}"
        note = " so far" if self.provisional else ""
        stopped = f"; stopped ({self.stopped})" if self.stopped else ""
        return f"Frontier of {self.plan.name}: {known}, cheapest{note} {self.cheapest}{stopped}"

    def _repr_html_(self) -> str:
        """Return the answer at each value as a table for notebooks."""
        return captioned(self.to_frame(), repr(self))

    def to_frame(self) -> pd.DataFrame:
        """Return a table with a row for each value of the second quantity.

        Its columns are the value, `holds`, `fails`, `likely` and `binding` of the answer there, and the
        `cost` of the cheapest design that holds; NaN if there is none.
        """
        assert self.plan.across is not None
        rows = []
        for answer in self.answers:
            assert answer.plan.beside is not None
            cheap = cheapest(answer)
            rows.append(
                {
                    self.plan.across.name: answer.plan.beside.value,
                    **{name: getattr(answer, name) for name in ("holds", "fails", "likely", "binding")},
                    "cost": None if cheap is None else cheap.cost,
                }
            )
        return pd.DataFrame(rows)

    def record(self) -> dict[str, Any]:
        """Return the frontier as data for JSON; numbers that are not finite become null."""
        assert self.plan.across is not None
        found = {
            "name": self.plan.name,
            "quantity": self.plan.quantity,
            "across": self.plan.across.name,
            "across_unit": self.plan.across.dimension.unit,
            "confidence": self.plan.confidence,
            "cheapest": None if self.cheapest is None else self.cheapest._asdict(),
            "least": None if self.least is None else self.least._asdict(),
            "so_far": self.provisional,
            "not_evaluated": [plan.beside and plan.beside.value for plan in self.missing],
            "warnings": self.warnings,
            "stopped": self.stopped or None,
            "answers": [
                {"across": answer.plan.beside and answer.plan.beside.value, **answer.record()}
                for answer in self.answers
            ],
            "cost": self.cost,
        }
        return {name: json_data(item) for name, item in found.items()}


@checked
def frontier(
    asked: Asked,
    *,
    folder: Path | None = None,
    target: str = "auto",
    threads: int | None = None,
    progress: Progress | None = None,
    large: bool = False,
) -> Frontier:
    """Answer a plan with a second quantity `across`, at each value of that quantity.

    Arguments and errors are those of `plan`. If `Stopped` is raised, the result has the answers so far.
    """
    asked = as_plan(asked)
    if not asked.designs:
        raise InputError("the plan has one quantity; call netcarlo.plan, or write across: with a second one")
    return Frontier(asked, answers(asked.designs, folder, target, threads, progress, large=large))


def cheapest(answer: Answer) -> Design | None:
    """Return the design of least cost that is known to hold at one value of the second quantity, or None."""
    return min(_designs([answer], sure=True), key=lambda design: design.cost, default=None)


def _all_designs(plans: list[Plan]) -> Iterator[Design]:
    """Yield all designs of plans with a cost."""
    for plan in plans:
        for value in plan.values:
            price = plan.price(value)
            if price is not None and plan.beside is not None:
                yield Design(plan.beside.value, value, price)


def _designs(found: list[Answer], *, sure: bool) -> Iterator[Design]:
    """Yield the designs that are known to hold (`sure`), or that are not known to fail; none without a
    cost."""
    for answer in found:
        plan = answer.plan
        end = answer.holds if sure else answer.fails
        places = len(plan.values) if end is None else plan.values.index(end) + (1 if sure else 0)
        for value in plan.values[: 0 if sure and end is None else places]:
            price = plan.price(value)
            if price is not None and plan.beside is not None:
                yield Design(plan.beside.value, value, price)
