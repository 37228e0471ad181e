"""Page about a plan: its answer while requirements and fields of the scenario change.

Replications are cached by scenario, so a change of a requirement reuses them. The final answer is that of
`netcarlo plan`.
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
from netcarlo.live.controls import RUN_FIELDS, Control, controls, round_numbers
from netcarlo.live.controls import slider as _slider
from netcarlo.live.lru import MOST_BYTES, LruCache
from netcarlo.live.page import Check, Details, File, Number, Numbers, Page
from netcarlo.live.scheduler import AbandonedError, Scheduler
from netcarlo.live.url_state import State, read
from netcarlo.networks.outcome import dimension
from netcarlo.numerics.arrays import Floats
from netcarlo.planning.definition import Plan
from netcarlo.planning.file import make_plan, set_in_plan
from netcarlo.planning.requirements import Requirement
from netcarlo.planning.run import Answer, Search
from netcarlo.planning.runner import ReplicationRunner
from netcarlo.reports.parts import scales
from netcarlo.reports.parts.figures import plot
from netcarlo.reports.plan import figures, wording
from netcarlo.reports.plan.page import plan_page
from netcarlo.reports.trace.page import trace_page
from netcarlo.scenario import Scenario
from netcarlo.schema import document as files
from netcarlo.schema import units
from netcarlo.schema.axes import DIMENSIONS
from netcarlo.schema.document import Document
from netcarlo.schema.names import full_names, split_options, with_options, with_values
from netcarlo.schema.output import csv_text
from netcarlo.schema.quantity import Quantity
from netcarlo.simulation.interruptions import interruptions
from netcarlo.simulation.launches import Job as Launched
from netcarlo.simulation.outcomes import MEANING, values_of
from netcarlo.simulation.provenance import resolved
from netcarlo.simulation.simulate import simulate_all
from netcarlo.simulation.trace import per_second
from netcarlo.simulation.trace import trace as traced
from netcarlo.sweeps.space.identity import key

PROBABILITIES = (0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.92, 0.95, 0.97, 0.98, 0.99)
"""Default values of the sliders for probabilities."""
MOST_FIELDS = 4
"""Number of fields of the scenario outside the section "More"."""
FIRST_S, RARELY = 1.0, 10
"""Time until a running search first computes an intermediate answer [s], and the least time between two such
answers as a multiple of the time that one takes."""
SLICE_S = 1.0
"""Time that a search simulates before other jobs are served [s]."""
AT_ONCE_S = 0.05
"""Time that a request waits for a search that may need no further simulation [s]."""
CHEAP_DRAWS = 16
"""Number of drawn networks for which the formula is evaluated at each value, for the preview."""
CHEAP_VALUES = 17
"""Approximate number of values at which the formula is evaluated, for the preview."""


_NUMBERS = itertools.count()
"""Identifiers of searches. Python may reuse an `id`."""


class _Slice(ReplicationRunner):
    """Runner with a time limit, so that other jobs are served."""

    ends_s = math.inf

    def of(self, scenario: Scenario, n: int) -> dict[str, Floats]:
        """Return the outcomes of `n` replications. Raises AbandonedError if the time is over."""
        if self.simulated and time.monotonic() > self.ends_s:
            raise AbandonedError
        return super().of(scenario, n)


class Searching:
    """Job of the scheduler that searches the answer of a plan, in slices that share their replications."""

    def __init__(self, plan: Plan, known: dict[str, dict[str, Floats]]) -> None:
        """`known` has the replications that other searches of the page have simulated."""
        self.plan, self.final, self.known, self.slices = plan, False, known, 0
        self.number = next(_NUMBERS)
        self.answer: Answer | None = None
        self.done = threading.Event()
        self._next_s = time.monotonic() + FIRST_S

    @property
    def work_id(self) -> int:
        """Identifier of the search."""
        return self.number

    def work_done(self) -> int | None:
        """Return the number of slices so far, or None if the answer is final."""
        return None if self.final else self.slices

    def work(self, check: Callable[..., object]) -> None:
        """Continue the search until its answer is final or the time of the slice is over."""
        self.slices += 1

        def look(_: int) -> None:
            check()
            begun = time.monotonic()
            if begun > self._next_s and search.ledger.replications:
                self.answer = search.answer("cpu")  # confidence bands are slow to compute
                self._next_s = time.monotonic() + RARELY * (time.monotonic() - begun)

        runner = _Slice(self.plan.recorded, target="cpu", progress=look, known=self.known)
        runner.ends_s = time.monotonic() + SLICE_S
        search = Search(self.plan, runner)
        search.run()
        self.answer, self.final = search.answer("cpu"), True
        self.done.set()


class PlanPage(Page):
    """Page about a plan file, with controls for its requirements and the numbers of its scenario."""

    captions = (
        "Probability that the requirements hold",
        "Binding requirement: its measure, and its bound (dashed)",
    )
    outcomes: Sequence[str] = ()
    of = ""

    def __init__(self, document: Document, values: Mapping[str, Any], scheduler: Scheduler) -> None:
        """`values` has fields of the file to be replaced, as with `--set`. Raises InputError."""
        self.set, self.scheduler = dict(values), scheduler
        own, self.inside = split_options(document, self.set)
        self.data, self.document = with_options(document, own, set_in_plan)
        self.data.setdefault("name", files.title(document.source))
        self.base = self._made(self.data)
        if self.base.designs:
            raise InputError(f"{document.source}: a live page supports plans of one quantity; remove across")
        self.name, self.description = self.base.name, self.base.description
        self._plans: LruCache[Plan] = LruCache()
        self._searches: LruCache[Searching] = LruCache()
        self._known: dict[str, dict[str, Floats]] = {}
        self._cheap: LruCache[dict[float, dict[str, Floats]]] = LruCache()
        self.controls = [*self._requirements(), *self._fields()]
        self.files = {
            "plan.yaml": File("YAML", "application/yaml", True, self._yaml),
            "curve.csv": File("CSV", "text/csv", True, self._csv),
            "trace.html": File("trace of replication 0 at the answer", "text/html", False, self._trace),
            "report.html": File("report", "text/html", False, self._report),
        }
        scheduler.watch("nobody", [self._search(self.state("")[0])])

    def _made(self, data: Mapping[str, Any]) -> Plan:
        """Return the plan without its resources, for which the page has sliders. Raises InputError."""
        folder = Path(self.document.source).parent
        lines = Document({}, self.document.source, self.document.lines, self.document.given)
        shown = {name: value for name, value in data.items() if name != "resources"}
        return make_plan(shown, folder=folder, document=lines, values=self.inside)

    def _requirements(self) -> list[Control]:
        found = []
        for k, each in enumerate(self.base.requirements):
            sign = "≥" if each.at_least else "≤"
            measure = wording.goal(self.base, k).partition(sign)[0].strip(" <>")
            found.append(
                _slider(f"requirements.{each.name}.goal", f"{each.name}: {measure} {sign}", *_bounds(each))
            )
            share = Quantity(units.FRACTION, 0.0, 0.9999, random=False)
            odds = sorted({*PROBABILITIES, each.probability})
            name = f"requirements.{each.name}.probability"
            found.append(_slider(name, f"{each.name}: with probability", odds, each.probability, share))
        return [replace(control, visible=True) for control in found]

    def _fields(self) -> list[Control]:
        """Return the controls of the scenario's numbers that the file of the plan sets."""
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
            if c.field not in RUN_FIELDS and not planned & set(full_names(data, c.field))
        ]  # fmt: skip
        seen = [c for c in found if c.visible][:MOST_FIELDS]
        return [replace(c, field=f"scenario.{c.field}", visible=c in seen) for c in found]

    def state(self, query: str) -> tuple[State, str]:
        """Return the state of a query and an error, see `url_state.read`."""
        return read(query, self.controls, of=self.of)

    def _values(self, state: State) -> dict[str, Any]:
        """Return the fields of the plan that a state sets, with their YAML values."""
        found = {}
        for name, value in state.values().items():
            of = next((r for r in self.base.requirements if name == f"requirements.{r.name}.goal"), None)
            found[name] = f"{of.measure} {of.comparison} {value}" if of else value
        return found

    def plan(self, state: State) -> Plan:
        """Return the plan of a state. Raises InputError."""
        values = self._values(state)
        asked = {
            n.removeprefix("requirements."): v for n, v in values.items() if n.startswith("requirements.")
        }
        others = {name: value for name, value in values.items() if not name.startswith("requirements.")}
        place = repr(sorted(others.items()))
        found = self._plans.get_or_make(
            place, lambda: self._made(with_values(self.data, others)) if others else self.base
        )
        return found.with_requirements(asked) if asked else found

    def _search(self, state: State) -> Searching:
        self._forget()
        return self._searches.get_or_make(state.query(), lambda: Searching(self.plan(state), self._known))

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
        self.scheduler.wait_until_final([job], check)
        assert job.answer is not None
        plan = copy.copy(job.plan)
        plan.source, plan.command = self._text(state), self._command(state)
        return replace(job.answer, plan=plan)

    def numbers(self, state: State, visitor: str) -> Numbers:
        """Return the answer, or the range in which it lies so far. Raises InputError."""
        job = self._search(state)
        self.scheduler.watch(visitor, [job])
        job.done.wait(AT_ONCE_S)
        rest = job.final  # read first: the other thread may finish in between
        known = job.answer is not None and (job.final or job.answer.decided)
        item = _item(job, self.scheduler.compiling) if known else self._first(job.plan)
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
                f"packets: {scales.count(n)} earlier replications",
            )
        kind = next((k for k in ("formula",) if not plan.base.network.unknown(plan.base, k)), None)
        cheap = self._of_formula(plan) if kind else {}
        if cheap:
            text = f"formula: {CHEAP_DRAWS} networks at {len(cheap)} values; no packets simulated"
            return Number(name, _guess(plan, cheap), "", "", text)
        return Number(
            name,
            "…",
            "",
            "",
            self.scheduler.compiling or "simulating packets; no formula gives these outcomes",
        )

    def _of_formula(self, plan: Plan) -> dict[float, dict[str, Floats]]:
        """Return outcomes by formula at some values of the quantity; empty if there is no formula for
        them."""
        step = math.ceil(len(plan.values) / CHEAP_VALUES)
        chosen = plan.values[::step]
        name = key(plan.scenario(chosen[0])) + key(plan.scenario(chosen[-1]))

        def simulated() -> dict[float, dict[str, Floats]]:
            rough = [plan.scenario(v).model_copy(update={"fidelity": "formula"}) for v in chosen]
            found = simulate_all([Launched(scenario, 0, CHEAP_DRAWS) for scenario in rough], target="cpu")
            values = [{o: values_of(each.frame, o) for o in plan.outcomes} for each in found]
            known = all(np.isfinite(v).any() for each in values for v in each.values())
            return dict(zip(chosen, values, strict=True)) if known else {}

        return self._cheap.get_or_make(name, simulated)

    def details(self, state: State, *, budget_s: float) -> Details:
        """Return the curve of probabilities, the measure of the active constraint, and all requirements."""
        job = self._search(state)
        found = job.answer
        if found is None:
            empty = plot([], x=wording.title(job.plan), y="probability [%]")
            return Details([empty, empty], (), (), False)
        active = next((k for k, r in enumerate(job.plan.requirements) if r.name == found.binding), 0)
        rows = wording.requirements(found)
        plots = [figures.curve(found), figures.measure(found, active)]
        return Details(plots, list(rows[0]), [list(map(str, row.values())) for row in rows], job.final)

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
        if self.inside:
            data["scenario"] = resolved(self.base.base)
        others = {n: v for n, v in self._values(state).items() if not n.startswith("requirements.")}
        return files.yaml_text(with_values(data, others))

    def _trace(self, state: State, check: Check) -> str:
        found = self._at_rest(state, check)
        value = found.plan.values[0] if found.holds is None else found.holds
        scenario = found.plan.scenario(value)
        events = traced(scenario, replication=0)
        title = f"{self.name} at {wording.value(found.plan, value)}, replication 0"
        return trace_page(
            events.frame, title, scenario=scenario,
            outcomes=events.outcomes.frame, interruptions=interruptions(scenario, replication=0),
            rates=per_second(scenario, events.frame, replication=0),
        )  # fmt: skip


def _name(plan: Plan) -> str:
    return f"{'most' if plan.spec.find == 'largest' else 'least'} {wording.title(plan)}"


def _item(job: Searching, doing: str) -> Number:
    """Return the item of a search: the range in which the answer is known to lie."""
    found, plan = job.answer, job.plan
    assert found is not None
    n = f"{scales.count(found.cost['replications'])} replications at {found.cost['values']} values"
    if not job.final:
        by = f"packets: {n} so far; {doing}".rstrip("; ")
        return Number(_name(plan), wording.known(found), "", "known so far", by)
    guess = ""
    if found.likely is not None:
        guess = f"point estimate of the limit {wording.estimate(plan, found.likely)}"
    said = filter(None, [wording.explanation(found), *found.warnings, found.outside])
    by = f"packets: {n}. {' '.join(said)}"
    return Number(_name(plan), wording.known(found), "", guess, by)


def _guess(plan: Plan, outcomes: Mapping[float, Mapping[str, Floats]]) -> str:
    """Return the range of values in which requirements seem to stop holding, by outcomes at some values."""
    values = list(outcomes)
    fine = [
        all(r.margin(r.quantile(r.measured(dict(outcomes[v]), v))) >= 0 for r in plan.requirements)
        for v in values
    ]
    if all(fine):
        return f"≈ {wording.value(plan, values[-1])} or {'more' if plan.spec.find == 'largest' else 'less'}"
    first = fine.index(False)  # index of the first value at which a requirement fails
    if first == 0:
        return "≈ none"
    last = plan.values[plan.values.index(values[first]) - 1]  # the one before it
    if last == values[first - 1]:
        return f"≈ {wording.value(plan, last)}"
    return f"≈ {wording.between(plan, [values[first - 1], last])}"


def _bounds(requirement: Requirement) -> tuple[list[float], float, Quantity]:
    """Return the values of a slider for the bound of a requirement, the bound itself, and its limits."""
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
    some = round_numbers(abs(own) / 10, min(abs(own) * 10, most)) if own else []
    return sorted({*some, own}), own, Quantity(kind, min(0.0, own), most, random=False)


def _reads(text: str, kind: units.Dimension) -> bool:
    try:
        units.parse(text, kind)
    except InputError:
        return False
    return True
