"""What happens when something moves: the browser writes the state, the server answers it, and the browser asks
again until it is at rest."""

from collections.abc import Sequence
from typing import Any

from dash import ALL, ClientsideFunction, Dash, Input, Output, State, html, no_update

from netcarlo.errors import InputError, MachineError
from netcarlo.live import answer, layout
from netcarlo.live.desk import Desk
from netcarlo.live.subject import Subject

MOVED_S, LATER_S = 0.02, 0.2
"""Seconds that a curve may take when something has moved, and later."""


def register(app: Dash, subject: Subject, desk: Desk) -> None:
    """Tell the page what to do."""

    def opened(search: str | None) -> Any:
        state, refused = subject.state(search or "")
        return layout.asked(subject, state), state.variant is not None, refused

    app.callback(
        Output("asked", "children"), Output("variant", "data"), Output("refused", "children"),
        Input("address", "search"),
    )(opened)  # fmt: skip

    app.clientside_callback(
        ClientsideFunction("live", "written"),
        Output("state", "data"),
        Output({"kind": "shown", "side": ALL, "field": ALL}, "children"),
        Input({"kind": "slider", "side": ALL, "field": ALL}, "value"),
        Input({"kind": "menu", "side": ALL, "field": ALL}, "data"),
        Input("variant", "data"),
        State({"kind": "slider", "side": ALL, "field": ALL}, "id"),
        State({"kind": "menu", "side": ALL, "field": ALL}, "id"),
        State({"kind": "places", "field": ALL}, "data"),
        State("file", "data"),
    )  # fmt: skip
    app.clientside_callback(
        ClientsideFunction("live", "toggled"), Input("what-if", "n_clicks"), State("variant", "data")
    )
    app.clientside_callback(ClientsideFunction("live", "again"), Input("drawn", "data"))

    def answered(query: str | None, tick: Any, visitor: str) -> Any:
        if query is None:
            return [no_update] * 4
        state, problem = subject.state(query)
        seen = {"query": query, "later": tick is not None and tick["query"] == query}
        try:
            numbers = answer.numbers(subject, desk, state, visitor)
        except _SAID as error:
            return [], _taken(query, []), _line(error), seen | {"failed": True}
        return layout.tiles(numbers.items), _taken(query, numbers.commands), problem, seen

    app.callback(
        Output("answer", "children"), Output("taken", "children"), Output("error", "children"),
        Output("seen", "data"),
        Input("state", "data"), Input("tick", "data"), State("visitor", "data"),
        prevent_initial_call=True,
    )(answered)  # fmt: skip

    def placed(seen: Any, there: Any) -> Any:
        return no_update if there else layout.figures(subject.state(seen["query"])[0])

    app.callback(
        Output("figures", "children"), Input("seen", "data"), State("figures", "children"),
        prevent_initial_call=True,
    )(placed)  # fmt: skip

    def drawn(seen: Any) -> Any:
        rest = {"query": seen["query"], "rest": True}
        if seen.get("failed"):
            return no_update, no_update, no_update, rest
        state, _ = subject.state(seen["query"])
        try:
            found = answer.figures_of(subject, desk, state, budget_s=LATER_S if seen["later"] else MOVED_S)
        except _SAID:
            return no_update, no_update, no_update, rest
        return found.along, found.settling, _table(found.table), rest | {"rest": found.rest}

    app.callback(
        Output("along", "figure"), Output("settling", "figure"), Output("table", "children"),
        Output("drawn", "data"), Input("seen", "data"),
    )(drawn)  # fmt: skip


_SAID = (InputError, MachineError, MemoryError)


def _line(error: BaseException) -> str:
    return str(error) or "not enough memory"


def _taken(query: str, commands: Sequence[str]) -> list[Any]:
    """Links to what can be taken from the page, and the commands that say the same."""
    names = {
        "scenario.yaml": "YAML", "outcomes.csv": "CSV", "trace.html": "trace of replication 0",
        "report.html": "report",
    }  # fmt: skip
    links = [html.A(text, href=f"/{name}?{query}", target="_blank") for name, text in names.items()]
    said = [html.Code(command) for command in commands]
    return [html.P(links, className="links"), html.P("The same on the command line:", className="soft"), *said]


def _table(rows: Sequence[tuple[str, str, str, str]]) -> Any:
    if not rows:
        return html.P("no packets yet", className="soft")
    head = html.Thead(html.Tr([html.Th("outcome", className="text"), html.Th("mean"), html.Th("95 % interval"),
                               html.Th("meaning", className="text")]))  # fmt: skip
    body = html.Tbody([
        html.Tr([html.Th(name, scope="row"), html.Td(mean, className="number"),
                 html.Td(interval.removeprefix("95 % interval "), className="number"), html.Td(meaning, className="text")])
        for name, mean, interval, meaning in rows
    ])  # fmt: skip
    return html.Div(html.Table([head, body], className="fold"), className="scroll", tabIndex="0")
