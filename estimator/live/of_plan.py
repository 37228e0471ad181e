"""A page about a plan: how much fits, as its requirements move, or what they are asked of.

Replications are kept by scenario, so a requirement that moves is answered by those there are.  At rest it is
what `netcarlo plan` answers.
"""

import copy
import itertools
import math
import shlex
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from netcarlo.errors import InputError
from netcarlo.live.address import State, read
from netcarlo.live.controls import OF_RUN, Control, controls, nice
from netcarlo.live.controls import slider as _slider
from netcarlo.live.desk import Desk, GoneError
from netcarlo.live.kept import MOST_BYTES, Kept
from netcarlo.live.subject import Check, Drawn, File, Number, Numbers, Subject
from netcarlo.networks.outcome import dimension
from netcarlo.numerics.arrays import Floats
from netcarlo.planning.file import Plan, make_plan, set_in_plan
from netcarlo.planning.requirements import Requirement
from netcarlo.planning.run import Answer, Search
from netcarlo.planning.runner import ReplicationRunner
from netcarlo.reports.parts import scales
from netcarlo.reports.parts.figures import plot
from netcarlo.reports.plan import figures, words
from netcarlo.reports.plan.page import plan_page
from netcarlo.reports.trace.page import trace_page
from netcarlo.scenario import Scenario
from netcarlo.schema import document as files
from netcarlo.schema import units
from netcarlo.schema.axes import DIMENSIONS
from netcarlo.schema.document import Document
from netcarlo.schema.names import full_names, with_options, with_values
from netcarlo.schema.output import csv_text
from netcarlo.schema.quantity import Quantity
from netcarlo.simulation.interruptions import interruptions
from netcarlo.simulation.launches import Job as Launched
from netcarlo.simulation.outcomes import MEANING, values_of
from netcarlo.simulation.simulate import simulate_all
from netcarlo.simulation.trace import per_second
from netcarlo.simulation.trace import trace as traced
from netcarlo.sweeps.space.identity import key

PROBABILITIES = (0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.92, 0.95, 0.97, 0.98, 0.99)
MOST_FIELDS = 4
"""Fields of the scenario that are seen first, below the requirements."""
FIRST_S, RARELY = 1.0, 10
"""A search under way is looked at after so many seconds, and then so many times as rarely as a look takes."""
SLICE_S = 1.0
"""Seconds that a search simulates before it gives way to another."""
AT_ONCE_S = 0.05
"""Seconds that an answer waits for a search whose replications are there."""
CHEAP_DRAWS = 16
"""Networks that the formula of a first guess is asked about at each value."""
CHEAP_VALUES = 17


_NUMBERS = itertools.count()
"""Numbers of searches; unlike `id`, none is used twice."""


class _Slice(ReplicationRunner):
    """A runner that gives way to other jobs when it has simulated for a while."""

    ends_s = math.inf

    def of(self, scenario: Scenario, n: int) -> dict[str, Floats]:
        """As that of every runner; GoneError where its time is over."""
        if self.simulated and time.monotonic() > self.ends_s:
            raise GoneError
        return super().of(scenario, n)


class Searching:
    """The search of a plan, a job of the desk: done in slices, each of which finds what others simulated."""

    def __init__(self, plan: Plan, known: dict[str, dict[str, Floats]]) -> None:
        """`known` are the replications that other searches of the page have made."""
        self.plan, self.rest, self.known, self.slices = plan, False, known, 0
        self.number = next(_NUMBERS)
        self.answer: Answer | None = None
        self.done = threading.Event()
        self._next_s = time.monotonic() + FIRST_S

    @property
    def about(self) -> int:
        """This search."""
        return self.number

    def left(self) -> int | None:
        """The slices done; None at rest."""
        return None if self.rest else self.slices

    def work(self, check: Callable[..., object]) -> None:
        """A slice."""
        self.slices += 1

        def look(_: int) -> None:
            check()
            begun = time.monotonic()
            if begun > self._next_s and search.ledger.replications:
                self.answer = search.answer("cpu")  # bands take a while
                self._next_s = time.monotonic() + RARELY * (time.monotonic() - begun)

        runner = _Slice(self.plan.kept, target="cpu", progress=look, known=self.known)
        runner.ends_s = time.monotonic() + SLICE_S
        search = Search(self.plan, runner)
        search.run()
        self.answer, self.rest = search.answer("cpu"), True
        self.done.set()


class OfPlan(Subject):
    """A plan file and what moves in it: its requirements, and numbers of its scenario."""

    captions = ("How probably the requirements hold", "What binds: the measure, and the bound (dashed)")
    outcomes: Sequence[str] = ()
    of = ""

    def __init__(self, document: Document, values: Mapping[str, Any], desk: Desk) -> None:
        """`values` are fields that are set for the whole page, as by `--set`.  Raises InputError."""
        self.set, self.desk = dict(values), desk
        self.data, self.document = with_options(document, self.set, set_in_plan)
        self.data.setdefault("name", files.title(document.source))
        self.base = self._made(self.data)
        if self.base.designs:
            raise InputError(f"{document.source}: live plans have one quantity; remove across")
        self.name, self.description = self.base.name, self.base.description
        self._plans: Kept[Plan] = Kept()
        self._searches: Kept[Searching] = Kept()
        self._known: dict[str, dict[str, Floats]] = {}
        self._cheap: Kept[dict[float, dict[str, Floats]]] = Kept()
        self.controls = [*self._requirements(), *self._fields()]
        self.files = {
            "plan.yaml": File("YAML", "application/yaml", True, self._yaml),
            "curve.csv": File("CSV", "text/csv", True, self._csv),
            "trace.html": File("trace of replication 0 at the answer", "text/html", False, self._trace),
            "report.html": File("report", "text/html", False, self._report),
        }
        desk.look_at("nobody", [self._search(self.state("")[0])])

    def _made(self, data: Mapping[str, Any]) -> Plan:
        """The plan without its resources, which a page has as sliders.  Raises InputError."""
        folder = Path(self.document.source).parent
        lines = Document({}, self.document.source, self.document.lines, self.document.given)
        return make_plan({k: v for k, v in data.items() if k != "resources"}, folder=folder, document=lines)

    def _requirements(self) -> list[Control]:
        found = []
        for k, each in enumerate(self.base.requirements):
            sign = "≥" if each.at_least else "≤"
            measure = words.goal(self.base, k).partition(sign)[0].strip(" <>")
            found.append(
                _slider(f"requirements.{each.name}.goal", f"{each.name}: {measure} {sign}", *_bounds(each))
            )
            share = Quantity(units.FRACTION, 0.0, 0.9999, random=False)
            odds = sorted({*PROBABILITIES, each.probability})
            name = f"requirements.{each.name}.probability"
            found.append(_slider(name, f"{each.name}: with probability", odds, each.probability, share))
        return [replace(control, seen=True) for control in found]

    def _fields(self) -> list[Control]:
        """Numbers of the scenario that are written in the plan's file."""
        data = self.data["scenario"]
        if not isinstance(data, dict):
            return []
        planned = {
            name
            for field in (*self.base.row.fields, *self.base.spec.derive)
            for name in full_names(data, field)
        }
        inside = Document({**data, "name": self.name}, source=self.document.source, lines={})
        found = [
            c for c in controls(inside, self.base.base)
            if c.field not in OF_RUN and not planned & set(full_names(data, c.field))
        ]  # fmt: skip
        seen = [c for c in found if c.seen][:MOST_FIELDS]
        return [replace(c, field=f"scenario.{c.field}", seen=c in seen) for c in found]

    def state(self, query: str) -> tuple[State, str]:
        """The state of an address and what is refused of it, see `address.read`."""
        return read(query, self.controls, of=self.of)

    def _values(self, state: State) -> dict[str, Any]:
        """Fields of the plan that a state sets."""
        found = {}
        for name, value in state.values().items():
            of = next((r for r in self.base.requirements if name == f"requirements.{r.name}.goal"), None)
            found[name] = f"{of.measure} {of.comparison} {value}" if of else value
        return found

    def plan(self, state: State) -> Plan:
        """The plan of a state.  Raises InputError."""
        values = self._values(state)
        asked = {
            n.removeprefix("requirements."): v for n, v in values.items() if n.startswith("requirements.")
        }
        others = {name: value for name, value in values.items() if not name.startswith("requirements.")}
        place = repr(sorted(others.items()))
        found = self._plans.made(
            place, lambda: self._made(with_values(self.data, others)) if others else self.base
        )
        return found.asking(asked) if asked else found

    def _search(self, state: State) -> Searching:
        self._forget()
        return self._searches.made(state.query(), lambda: Searching(self.plan(state), self._known))

    def _forget(self) -> None:
        """Drop the oldest replications beyond `MOST_BYTES`; a search makes them again."""
        sizes = {name: sum(v.nbytes for v in known.values()) for name, known in [*self._known.items()]}
        excess = sum(sizes.values()) - MOST_BYTES
        for name, size in sizes.items():
            if excess <= 0:
                return
            self._known.pop(name, None)
            excess -= size

    def _at_rest(self, state: State, check: Check) -> Answer:
        job = self._search(state)
        self.desk.rest([job], check)
        assert job.answer is not None
        plan = copy.copy(job.plan)
        plan.source, plan.command = self._text(state), self._command(state)
        return replace(job.answer, plan=plan)

    def numbers(self, state: State, visitor: str) -> Numbers:
        """How much fits, as far as is known now.  Raises InputError."""
        job = self._search(state)
        self.desk.look_at(visitor, [job])
        job.done.wait(AT_ONCE_S)
        rest = job.rest  # before it is looked at
        known = job.answer is not None and (job.rest or job.answer.decided)
        item = _item(job, self.desk.doing) if known else self._first(job.plan)
        return Numbers([item], [self._command(state)], rest)

    def _first(self, plan: Plan) -> Number:
        """Return the range before the first look of the search: by earlier replications, or by a formula."""
        name = _name(plan)
        there = {
            value: known for value in plan.values if (known := self._known.get(key(plan.scenario(value))))
        }
        if len(there) > 1:
            n = sum(len(next(iter(known.values()))) for known in there.values())
            return Number(
                name,
                _guess(plan, there),
                "",
                "",
                f"packets: of {scales.count(n)} replications made before",
            )
        kind = next((k for k in ("formula",) if not plan.base.network.unknown(plan.base, k)), None)
        cheap = self._of_formula(plan) if kind else {}
        if cheap:
            text = f"formula: {CHEAP_DRAWS} networks at {len(cheap)} values; no packet was simulated"
            return Number(name, _guess(plan, cheap), "", "", text)
        return Number(
            name, "…", "", "", self.desk.doing or "no formula knows these outcomes; packets are simulated"
        )

    def _of_formula(self, plan: Plan) -> dict[float, dict[str, Floats]]:
        """Outcomes by formula at some values; empty where it does not know them."""
        step = math.ceil(len(plan.values) / CHEAP_VALUES)
        chosen = plan.values[::step]
        name = key(plan.scenario(chosen[0])) + key(plan.scenario(chosen[-1]))

        def simulated() -> dict[float, dict[str, Floats]]:
            rough = [plan.scenario(v).model_copy(update={"fidelity": "formula"}) for v in chosen]
            found = simulate_all([Launched(scenario, 0, CHEAP_DRAWS) for scenario in rough], target="cpu")
            values = [{o: values_of(each.frame, o) for o in plan.outcomes} for each in found]
            known = all(np.isfinite(v).any() for each in values for v in each.values())
            return dict(zip(chosen, values, strict=True)) if known else {}

        return self._cheap.made(name, simulated)

    def drawn(self, state: State, *, budget_s: float) -> Drawn:
        """The curve of probabilities, the measure that binds, and what limits it."""
        job = self._search(state)
        found = job.answer
        if found is None:
            empty = plot([], x=words.title(job.plan), y="probability [%]")
            return Drawn([empty, empty], (), (), False)
        binds = next((k for k, r in enumerate(job.plan.requirements) if r.name == found.binding), 0)
        rows = words.requirements(found)
        plots = [figures.curve(found), figures.measure(found, binds)]
        return Drawn(plots, list(rows[0]), [list(map(str, row.values())) for row in rows], job.rest)

    def _command(self, state: State) -> str:
        said = ["netcarlo", "plan", Path(self.document.source).name]
        for name, value in {**self.set, **self._values(state)}.items():
            said += ["--set", f"{name}={str(value).lower() if isinstance(value, bool) else value}"]
        return shlex.join(said)

    def _csv(self, state: State, check: Check) -> str:
        return csv_text(self._at_rest(state, check).to_frame())

    def _report(self, state: State, check: Check) -> str:
        return plan_page(self._at_rest(state, check))

    def _yaml(self, state: State, check: Check) -> str:
        return self._text(state)

    def _text(self, state: State) -> str:
        """Return the plan of a state as YAML."""
        data = {**self.data, "requirements": self.plan(state).spec.model_dump()["requirements"]}
        others = {n: v for n, v in self._values(state).items() if not n.startswith("requirements.")}
        return files.yaml_text(with_values(data, others))

    def _trace(self, state: State, check: Check) -> str:
        found = self._at_rest(state, check)
        value = found.plan.values[0] if found.holds is None else found.holds
        scenario = found.plan.scenario(value)
        events = traced(scenario, replication=0)
        title = f"{self.name} at {words.value(found.plan, value)}, replication 0"
        return trace_page(
            events.frame, title, scenario=scenario,
            outcomes=events.outcomes.frame, interruptions=interruptions(scenario, replication=0),
            rates=per_second(scenario, events.frame, replication=0),
        )  # fmt: skip


def _name(plan: Plan) -> str:
    return f"{'most' if plan.spec.find == 'largest' else 'least'} {words.title(plan)}"


def _item(job: Searching, doing: str) -> Number:
    """Return the item of a search: the range in which the answer is known to lie."""
    found, plan = job.answer, job.plan
    assert found is not None
    n = f"{scales.count(found.cost['replications'])} replications at {found.cost['values']} values"
    if not job.rest:
        by = f"packets: {n} so far; {doing}".rstrip("; ")
        return Number(_name(plan), words.known(found), "", "known so far", by)
    guess = "" if found.likely is None else f"best guess of the limit {words.value(plan, found.likely, 3)}"
    by = f"packets: {n}. {' '.join(filter(None, [words.explanation(found), *found.warnings, found.outside]))}"
    return Number(_name(plan), words.known(found), "", guess, by)


def _guess(plan: Plan, outcomes: Mapping[float, Mapping[str, Floats]]) -> str:
    """Return the range of values in which requirements seem to stop holding, by outcomes at some values."""
    values = list(outcomes)
    fine = [
        all(r.margin(r.quantile(r.measured(dict(outcomes[v]), v))) >= 0 for r in plan.requirements)
        for v in values
    ]
    if all(fine):
        return f"≈ {words.value(plan, values[-1])} or {'more' if plan.spec.find == 'largest' else 'less'}"
    first = fine.index(False)
    if first == 0:
        return "≈ none"
    last = plan.values[plan.values.index(values[first]) - 1]  # the one before it
    if last == values[first - 1]:
        return f"≈ {words.value(plan, last)}"
    return f"≈ {words.between(plan, [values[first - 1], last])}"


def _bounds(requirement: Requirement) -> tuple[list[float], float, Quantity]:
    """Places around the bound of a requirement, that bound, and what it may be."""
    kind, own = (
        dimension(requirement.measure) if requirement.measure in MEANING else units.PLAIN,
        requirement.bound,
    )
    text = requirement.text.rpartition(requirement.comparison)[2]
    if text.endswith("%"):
        kind = units.FRACTION
    elif kind is units.PLAIN:
        kind = next((d for d in DIMENSIONS if _reads(text, d)), units.PLAIN)
    most = 1.0 if kind is units.FRACTION else 1e15
    some = nice(abs(own) / 10, min(abs(own) * 10, most)) if own else []
    return sorted({*some, own}), own, Quantity(kind, min(0.0, own), most, random=False)


def _reads(text: str, kind: units.Dimension) -> bool:
    try:
        units.parse(text, kind)
    except InputError:
        return False
    return True
