"""What can be taken from the page at a state: its YAML, a CSV of its outcomes, a trace, and a page that opens
offline."""

from collections.abc import Callable
from typing import Any

from netcarlo.errors import InputError, MachineError
from netcarlo.estimation.estimate import estimate
from netcarlo.live import answer
from netcarlo.live.address import State
from netcarlo.live.desk import Desk
from netcarlo.live.subject import Subject
from netcarlo.reports.estimate.page import estimate_page
from netcarlo.reports.trace.page import trace_page
from netcarlo.schema import document as files
from netcarlo.schema.names import with_values
from netcarlo.schema.output import csv_text
from netcarlo.simulation.interruptions import interruptions
from netcarlo.simulation.trace import per_second
from netcarlo.simulation.trace import trace as traced

FILES = {
    "scenario.yaml": ("application/yaml", True),
    "outcomes.csv": ("text/csv", True),
    "trace.html": ("text/html", False),
    "report.html": ("text/html", False),
}
"""What there is to take: its type, and whether it is saved rather than shown."""


def register(app: Any, subject: Subject, desk: Desk) -> None:
    """Serve these files at the root of an application."""
    from flask import Response, request

    makers: dict[str, Callable[[State], str]] = {
        "scenario.yaml": lambda state: scenario_yaml(subject, state),
        "outcomes.csv": lambda state: outcomes_csv(subject, desk, state),
        "trace.html": lambda state: trace_html(subject, state),
        "report.html": lambda state: report_html(subject, desk, state),
    }

    def give(name: str) -> Any:
        kind, saved = FILES[name]
        state, refused = subject.state(request.query_string.decode("utf-8", "replace"))
        try:
            if refused:
                raise InputError(refused)
            text = makers[name](state)
        except (InputError, MachineError) as error:
            return Response(f"error: {error}\n", status=400, mimetype="text/plain")
        found = Response(text, mimetype=kind)
        if saved:
            found.headers["Content-Disposition"] = f"attachment; filename={name}"
        return found

    for name in FILES:
        app.server.add_url_rule(f"/{name}", name, lambda name=name: give(name))


def scenario_yaml(subject: Subject, state: State) -> str:
    """The scenario of a state as a file."""
    subject.scenario(state)
    return files.yaml_text(with_values(subject.document.data, {**subject.set, **state.values()}))


def outcomes_csv(subject: Subject, desk: Desk, state: State) -> str:
    """The table of `estimate` at rest, of each variant."""
    import pandas as pd

    tables = []
    for variant in (False,) if state.variant is None else (False, True):
        runs = desk.runs(subject.scenario(state, variant=variant))
        found = estimate(runs.scenario, control=runs.control(state.of), of=state.of).to_frame().reset_index()
        if state.variant is not None:
            found.insert(0, "variant", "what if" if variant else "this")
        tables.append(found)
    return csv_text(pd.concat(tables))


def trace_html(subject: Subject, state: State) -> str:
    """The page of replication 0."""
    scenario = subject.scenario(state)
    found = traced(scenario, replication=0)
    return trace_page(
        found.frame, f"{scenario.name}, seed {scenario.seed}, replication 0", scenario=scenario,
        outcomes=found.outcomes.frame, interruptions=interruptions(scenario, replication=0),
        rates=per_second(scenario, found.frame, replication=0),
    )  # fmt: skip


def report_html(subject: Subject, desk: Desk, state: State) -> str:
    """The page of this state, at rest."""
    variants = (False,) if state.variant is None else (False, True)
    for variant in variants:
        desk.rest(desk.runs(subject.scenario(state, variant=variant)), state.of, "report")
    found = answer.shown(subject, desk, state, "report", budget_s=5.0)
    scenarios = [subject.scenario(state, variant=variant) for variant in variants]
    return estimate_page(scenarios, found.items, [p for p in (found.along, found.settling) if p], found.table,
                         found.commands)  # fmt: skip
