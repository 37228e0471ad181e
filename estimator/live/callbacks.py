"""When something moves the browser writes the state, the server answers it, and the browser asks again until
it is at rest."""

from typing import Any

from dash import ALL, ClientsideFunction, Dash, Input, Output, State, no_update

from netcarlo.errors import InputError, MachineError
from netcarlo.live import layout
from netcarlo.live.subject import Subject

MOVED_S, LATER_S = 0.02, 0.2
"""Seconds that a curve may take when something has moved, and later."""


def register(app: Dash, subject: Subject) -> None:
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
            numbers = subject.numbers(state, visitor)
        except _SAID as error:
            return [], layout.taken(subject, query, []), _line(error), seen | {"failed": True}
        seen["rest"] = numbers.rest
        return (
            layout.tiles(query, numbers.items),
            layout.taken(subject, query, numbers.commands),
            problem,
            seen,
        )

    app.callback(
        Output("answer", "children"), Output("taken", "children"), Output("error", "children"),
        Output("seen", "data"),
        Input("state", "data"), Input("tick", "data"), State("visitor", "data"),
        prevent_initial_call=True,
    )(answered)  # fmt: skip

    def placed(query: str) -> Any:
        return layout.figures(subject, subject.state(query)[0])

    app.callback(Output("figures", "children"), Input("place", "data"), prevent_initial_call=True)(placed)
    app.clientside_callback(ClientsideFunction("live", "first"), Input("seen", "data"))

    def drawn(seen: Any) -> Any:
        rest = {"query": seen["query"], "rest": True}
        if seen.get("failed"):
            return no_update, no_update, no_update, rest
        state, _ = subject.state(seen["query"])
        try:
            found = subject.drawn(state, budget_s=LATER_S if seen["later"] else MOVED_S)
        except _SAID:
            return no_update, no_update, no_update, rest
        rest["rest"] = seen["rest"] and found.rest
        return *found.plots, layout.table(found.head, found.table), rest

    app.callback(
        Output("figure-0", "figure"), Output("figure-1", "figure"), Output("table", "children"),
        Output("drawn", "data"), Input("seen", "data"),
    )(drawn)  # fmt: skip


_SAID = (InputError, MachineError, MemoryError)


def _line(error: BaseException) -> str:
    return str(error) or "not enough memory"
