"""Plans of two quantities: how far the first may go at each value of a second one, and what that costs."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from netcarlo.errors import InputError
from netcarlo.planning.file import Asked, Plan, plan_of
from netcarlo.planning.run import Answer, Progress, answers, plain
from netcarlo.schema.arguments import checked
from netcarlo.schema.output import captioned


class Design(NamedTuple):
    """A value of each quantity, in SI units, and what they cost together."""

    beside: float
    """Of the second quantity."""
    value: float
    """Of the planned one."""
    cost: float


@dataclass(frozen=True)
class Frontier:
    """What a plan of two quantities found.  Its confidence is that of all its answers together."""

    plan: Plan
    answers: list[Answer]
    """Of the values of the second quantity that were looked at, in rising order."""

    @property
    def stopped(self) -> str:
        """Why it ended before all was decided that could be: `after 60 s`; empty if it did not."""
        return self.answers[-1].stopped

    @property
    def cost(self) -> dict[str, Any]:
        """Replications, those that were simulated now, values, seconds: of all answers together."""
        spent = [answer.cost for answer in self.answers]
        found = {name: sum(one[name] for one in spent) for name in spent[0]}
        values = sum(len(design.values) for design in self.plan.designs)
        return found | {"of_values": values, "damaged": spent[-1]["damaged"]}

    @property
    def decided(self) -> bool:
        """Whether anything is known."""
        return any(answer.decided for answer in self.answers)

    @property
    def cheapest(self) -> Design | None:
        """Design of least cost that is known to hold; None if none is, or the plan has no `cost`."""
        return min(_designs(self.answers, sure=True), key=lambda design: design.cost, default=None)

    @property
    def least(self) -> Design | None:
        """Design of least cost that is not known to fail: with the plan's confidence no design is cheaper.
        Designs that were not looked at count. None if all fail, or the plan has no `cost`."""
        open_ = [*_designs(self.answers, sure=False), *_not_looked_at(self.missing)]
        return min(open_, key=lambda design: design.cost, default=None)

    @property
    def missing(self) -> list[Plan]:
        """Plans at the values of the second quantity that were not looked at, because the search was stopped
        before."""
        return [*self.plan.designs[len(self.answers) :]]

    @property
    def so_far(self) -> bool:
        """True if a design that is undecided, or was not looked at, could be cheaper than the `cheapest`."""
        best, least = self.cheapest, self.least
        return best is not None and least is not None and least.cost < best.cost

    @property
    def answer(self) -> Answer | None:
        """Answer with the cheapest design; without costs, the answer that goes furthest; None if no design
        holds."""
        best = self.cheapest
        known = [answer for answer in self.answers if answer.holds is not None]
        if best is not None:
            return next(a for a in known if a.plan.beside and a.plan.beside.value == best.beside)
        most = self.plan.spec.find == "largest"
        return (max if most else min)(known, key=lambda answer: answer.holds or 0.0, default=None)

    @property
    def warnings(self) -> list[str]:
        """Warnings, a sentence each, that the answer of the best design may not mean what was asked."""
        return [] if self.answer is None else self.answer.warnings

    @property
    def outside(self) -> str:
        """Sentence that names the quantities outside the validated range; empty inside the range."""
        return "" if self.answer is None else self.answer.outside

    def __repr__(self) -> str:
        """One line: what of, and the cheapest design."""
        assert self.plan.across is not None
        looked_at = f"{len(self.answers)} of {len(self.plan.designs)}" if self.missing else len(self.answers)
        known = f"{self.plan.quantity} at {looked_at} values of {self.plan.across.name}"
        so_far = " so far" if self.so_far else ""
        stopped = f"; stopped ({self.stopped})" if self.stopped else ""
        return f"Frontier of {self.plan.name}: {known}, cheapest{so_far} {self.cheapest}{stopped}"

    def _repr_html_(self) -> str:
        """What a notebook shows: the answer at each value."""
        return captioned(self.to_frame(), repr(self))

    def to_frame(self) -> pd.DataFrame:
        """A row for each value of the second quantity: what `holds` and `fails` there, the `likely` limit,
        what is `binding`, and the `cost` of the cheapest that holds; NaN: none."""
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
        """The frontier as data for JSON; what is not finite is null."""
        assert self.plan.across is not None
        found = {
            "name": self.plan.name,
            "quantity": self.plan.quantity,
            "across": self.plan.across.name,
            "across_unit": self.plan.across.dimension.unit,
            "confidence": self.plan.confidence,
            "cheapest": None if self.cheapest is None else self.cheapest._asdict(),
            "least": None if self.least is None else self.least._asdict(),
            "so_far": self.so_far,
            "not_evaluated": [plan.beside and plan.beside.value for plan in self.missing],
            "warnings": self.warnings,
            "stopped": self.stopped or None,
            "answers": [
                {"across": answer.plan.beside and answer.plan.beside.value, **answer.record()}
                for answer in self.answers
            ],
            "cost": self.cost,
        }
        return {name: plain(item) for name, item in found.items()}


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
    """Answer a plan, its file or data as in one, with a second quantity `across`, at each value of it.

    Arguments, and what may be raised, are those of `plan`.  One that is `Stopped` has the answers so far.
    """
    asked = plan_of(asked)
    if not asked.designs:
        raise InputError("the plan has one quantity; call netcarlo.plan, or write across: with a second one")
    return Frontier(asked, answers(asked.designs, folder, target, threads, progress, large=large))


def cheapest(answer: Answer) -> Design | None:
    """The cheapest design at one value of the second quantity that is known to hold."""
    return min(_designs([answer], sure=True), key=lambda design: design.cost, default=None)


def _not_looked_at(plans: list[Plan]) -> Iterator[Design]:
    """Yield all designs of plans with a cost."""
    for plan in plans:
        for value in plan.values:
            price = plan.price(value)
            if price is not None and plan.beside is not None:
                yield Design(plan.beside.value, value, price)


def _designs(found: list[Answer], *, sure: bool) -> Iterator[Design]:
    """The designs with a cost that are known to hold; those that are not known to fail, unless `sure`."""
    for answer in found:
        plan = answer.plan
        end = answer.holds if sure else answer.fails
        places = len(plan.values) if end is None else plan.values.index(end) + (1 if sure else 0)
        for value in plan.values[: 0 if sure and end is None else places]:
            price = plan.price(value)
            if price is not None and plan.beside is not None:
                yield Design(plan.beside.value, value, price)
