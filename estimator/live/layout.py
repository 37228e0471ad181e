"""Layout of the page: controls on the left, the answer on the right. On a phone the answer stays at the
top."""

from collections.abc import Sequence
from typing import Any
from uuid import uuid4

from dash import dcc, html

from netcarlo.live.controls import RUN_FIELDS, Control
from netcarlo.live.page import Number, Page
from netcarlo.live.url_state import State
from netcarlo.reports.parts import scales
from netcarlo.reports.parts.figures import plot

GRAPH = {"displayModeBar": False, "responsive": True}


def skeleton(page: Page) -> Any:
    """Return the page without its contents, which depend on the URL. Each visitor gets an identifier."""
    about = [html.P("netcarlo · live", className="kicker"), html.H1(page.name)]
    if page.description:
        about.append(html.P(page.description, className="lead"))
    return html.Div([
        dcc.Location(id="address", refresh=False),
        dcc.Store(id="visitor", data=uuid4().hex),
        dcc.Store(id="state"), dcc.Store(id="seen"), dcc.Store(id="place"), dcc.Store(id="tick"),
        dcc.Store(id="file", data=page.of), dcc.Store(id="variant"),
        html.Header(about),
        html.Main(id="main", className="live", children=[
            html.Section(className="answer", children=[
                html.Div(id="answer"),
                html.P(id="refused", role="alert", className="error"),
                html.P(id="error", role="alert", className="error"),
            ]),
            html.Section(id="asked", className="asked"),
            html.Section(id="figures", className="seen"),
            html.Section(id="taken", className="taken"),
        ]),
    ])  # fmt: skip


HEIGHTS = ("24rem", "17rem")
"""Heights of the two figures."""


def figures(page: Page, state: State) -> list[Any]:
    """Return the empty figures and the table. They are loaded after the first number, which needs no
    Plotly."""
    empty = plot([], x="", y="")
    captions: list[list[Any]] = [[caption] for caption in page.captions]
    if page.outcomes:
        captions[0].append(against(state))
    return [
        *(html.Figure([
            html.Figcaption(caption),
            dcc.Graph(id=f"figure-{k}", figure=empty, config=GRAPH, style={"height": height}),
        ]) for k, (caption, height) in enumerate(zip(captions, HEIGHTS, strict=True))),
        html.Details([
            html.Summary("All outcomes" if page.outcomes else "Requirements"), html.Div(id="table"),
        ]),
        dcc.Store(id="drawn"),
    ]  # fmt: skip


def controls_panel(page: Page, state: State) -> list[Any]:
    """Return the menu of outcomes, the button for a second variant, and the controls at a state."""
    first = [c for c in state.controls if c.visible]
    more = [c for c in state.controls if not c.visible]
    moved = {*state.places, *(state.variant or {})}
    what: list[Any] = []
    if page.outcomes:
        outcomes = [(name, scales.name_of(name)) for name in page.outcomes]
        what = [
            html.Div(className="row", children=[
                html.Span("Outcome", className="label"),
                menu("of", "page", outcomes, state.of, "outcome"),
            ]),
            html.P(html.Button("What if …", id="what-if", type="button", title="add a second variant")),
        ]  # fmt: skip
    rest = html.Details(className="more", open=any(c.field in moved for c in more), children=[
        html.Summary(f"More: {len(more)} fields"), *(control_row(c, state, two=bool(what)) for c in more),
    ])  # fmt: skip
    return [*what, *(control_row(c, state, two=bool(what)) for c in first), *([rest] if more else [])]


def control_row(control: Control, state: State, *, two: bool) -> Any:
    """Return the row of a control: its name, and for each variant a slider or a menu with its value."""
    sides = ("a", "b") if two and control.field not in RUN_FIELDS else ("a",)
    data = {"texts": list(control.texts), "start": control.start, "field": control.field}
    rows: list[Any] = [
        html.Span(control.label, className="label", title=control.field),
        dcc.Store(id={"kind": "places", "field": control.field}, data=data),
    ]
    for side in sides:
        place = state.place(control.field, variant=side == "b")
        rows.append(_moves(control, side, place))
    return html.Div(rows, className="row")


def _moves(control: Control, side: str, place: int) -> Any:
    which = {"side": side, "field": control.field}
    name = control.label if side == "a" else f"{control.label}, what if"
    if control.menu:
        options = [(str(i), text) for i, text in enumerate(control.texts)]
        return html.Div(
            menu(control.field, side, options, str(place), name), className=f"side {side} of-menu"
        )
    return html.Label(className=f"side {side}", children=[
        html.Span(name, className="spoken"),
        dcc.Input(id={"kind": "slider", **which}, type="range", min=0, max=len(control.places) - 1, step=1,
                  value=place),
        html.Output(control.texts[place], id={"kind": "shown", **which}),
    ])  # fmt: skip


def against(state: State) -> Any:
    """Return the menu of the field on the horizontal axis of the first figure."""
    return menu(
        "against",
        "page",
        [(c.field, c.label) for c in state.controls],
        state.against,
        "field on the horizontal axis",
    )


def menu(field: str, side: str, options: Sequence[tuple[str, str]], chosen: str, label: str) -> Any:
    """Return a native menu and a store with its selected value, which `live.js` updates."""
    which = {"side": side, "field": field}
    return html.Span(className="menu", children=[
        dcc.Store(id={"kind": "menu", **which}, data=chosen),
        html.Select(
            id={"kind": "select", **which}, **{"aria-label": label},
            children=[html.Option(text, value=value, selected=value == chosen) for value, text in options],
        ),
    ])  # fmt: skip


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> Any:
    """Return a table whose first and last columns are texts and whose other columns are numbers."""
    if not rows:
        return html.P("No packets have been simulated yet.", className="soft")
    last = len(head) - 1
    kinds = ["text" if k in (0, last) else "number" for k in range(len(head))]
    lines = [
        html.Tr(
            [
                html.Th(row[0], scope="row"),
                *(html.Td(c, className=k) for c, k in zip(row[1:], kinds[1:], strict=True)),
            ]
        )
        for row in rows
    ]
    heads = html.Thead(
        html.Tr([html.Th(text, className=kind) for text, kind in zip(head, kinds, strict=True)])
    )
    return html.Div(
        html.Table([heads, html.Tbody(lines)], className="fold"), className="scroll", tabIndex="0"
    )


def downloads(page: Page, query: str, commands: Sequence[str]) -> list[Any]:
    """Return links to the files of a state, and the commands that print the same answer."""
    links = [
        html.A(file.label, href=f"/{name}?{query}", target="_blank") for name, file in page.files.items()
    ]
    said = [html.Code(command) for command in commands]
    return [
        html.P(links, className="links"),
        html.P("Command line:", className="soft"),
        *said,
    ]


def tiles(query: str, items: Sequence[Number]) -> Any:
    """Return the large numbers of a state, each with name, unit, interval and the model that produced it."""
    found = [
        html.Div(className=f"number {'abc'[k]}", children=[
            html.P(name, className="name"),
            html.P([html.Span(number, className="value"), " ", html.Span(unit, className="unit")]),
            html.P(interval or "\N{NO-BREAK SPACE}", className="interval"),
            html.P(by, className="by"),
        ])
        for k, (name, number, unit, interval, by) in enumerate(items)
    ]  # fmt: skip
    return html.Div(found, className="numbers", **{"data-state": query})
