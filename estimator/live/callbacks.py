"""Dash callbacks: the browser sends its state, and polls the server until the answer is final."""

from typing import Any

from dash import ALL, ClientsideFunction, Dash, Input, Output, State, no_update

from netcarlo.errors import InputError, MachineError
from netcarlo.live import layout
from netcarlo.live.page import Page

MOVED_S, LATER_S = 0.02, 0.2
"""Time to extend a curve in the first request of a state, and in later ones [s]."""


def register(app: Dash, page: Page) -> None:
    """Register the callbacks of a page."""

    def opened(search: str | None) -> Any:
        state, refused = page.state(search or "")
        return layout.controls_panel(page, state), state.variant is not None, refused

    app.callback(
        Output("asked", "children"), Output("variant", "data"), Output("refused", "children"),
        Input("address", "search"),
    )(opened)  # fmt: skip

    app.clientside_callback(
        ClientsideFunction("live", "written"),
        Output("state", "data"),
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
        state, problem = page.state(query)
        seen = {"query": query, "later": tick is not None and tick["query"] == query}
        try:
            numbers = page.numbers(state, visitor)
        except _REPORTED as error:
            return [], layout.downloads(page, query, []), _line(error), seen | {"failed": True}
        seen["rest"] = numbers.final
        return (
            layout.tiles(query, numbers.items),
            layout.downloads(page, query, numbers.commands),
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
        return layout.figures(page, page.state(query)[0])

    app.callback(Output("figures", "children"), Input("place", "data"), prevent_initial_call=True)(placed)
    app.clientside_callback(ClientsideFunction("live", "first"), Input("seen", "data"))

    def drawn(seen: Any) -> Any:
        rest = {"query": seen["query"], "rest": True}
        if seen.get("failed"):
            return no_update, no_update, no_update, rest
        state, _ = page.state(seen["query"])
        try:
            found = page.details(state, budget_s=LATER_S if seen["later"] else MOVED_S)
        except _REPORTED:
            return no_update, no_update, no_update, rest
        rest["rest"] = seen["rest"] and found.final
        return *found.plots, layout.table(found.head, found.table), rest

    app.callback(
        Output("figure-0", "figure"), Output("figure-1", "figure"), Output("table", "children"),
        Output("drawn", "data"), Input("seen", "data"),
    )(drawn)  # fmt: skip


_REPORTED = (InputError, MachineError, MemoryError)


def _line(error: BaseException) -> str:
    return str(error) or "not enough memory; reduce replications, duration or the number of flows"
