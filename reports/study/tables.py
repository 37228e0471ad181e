"""The published numbers of a study beside ours: tables in the paper's layout, and listings of the others."""

from collections.abc import Mapping
from itertools import groupby
from typing import Any

import numpy as np

from netcarlo.reports.parts import wording
from netcarlo.reports.study.verdict import match
from netcarlo.studies.cells import Cell, estimate
from netcarlo.studies.claims import ends
from netcarlo.studies.comparison import Compared
from netcarlo.studies.description import Table
from netcarlo.studies.evaluation import Evaluation
from netcarlo.studies.selection import Value, matches

Key = tuple[Value, ...]

Shown = tuple[str, Mapping[str, Value], dict[str, Any] | None]
"""Metric, conditions, and what a table shows of them."""


def rows_of(evaluation: Evaluation, table: Table) -> list[Compared]:
    """The numbers of a table."""
    return [
        row
        for row in evaluation.rows
        if row.published.place.get("table") == table.table and row.published.metric in table.metrics
    ]


def layout(evaluation: Evaluation, table: Table) -> dict[str, Any]:
    """A table of the paper: headings with their spans, and the cells of each line."""
    description = evaluation.study.description
    conditions = description.conditions
    rows = rows_of(evaluation, table)
    several = len(table.metrics) > 1
    shown: list[Shown] = [
        (row.published.metric, row.published.conditions, _cell(evaluation, row)) for row in rows
    ]
    if table.cells is not None:
        shown = _of_cells(evaluation, table, shown)
    unit = rows[0].published.unit if rows else getattr(description.metrics[table.metrics[0]], "unit", "")

    def key(at: Mapping[str, Value], columns: list[str]) -> Key:
        return tuple(at[column] for column in columns)

    def texts(columns: list[str], key: Key) -> list[str]:
        return [conditions[c].show(value) for c, value in zip(columns, key, strict=True)]

    columns = list(dict.fromkeys(key(at, table.columns) for _, at, _ in shown))
    if all(isinstance(value, float) for column in columns for value in column):
        columns.sort()
    lines: dict[Key, dict[Key, dict[str, Any] | None]] = {}
    for metric, at, cell in shown:
        head = key(at, table.rows) + ((metric,) if several else ())
        lines.setdefault(head, {})[key(at, table.columns)] = cell
    heads = [texts(table.rows, head[: len(table.rows)]) for head in lines]
    if several:
        heads = [
            [*texts_, description.label(str(head[-1]))] for texts_, head in zip(heads, lines, strict=True)
        ]
    return {
        "name": table.table,
        "title": table.title,
        "unit": unit,
        "heads": [*(conditions[column].label for column in table.rows), *([""] if several else [])],
        "columns": list(zip(*_spans([texts(table.columns, c) for c in columns]), strict=True)),
        "lines": [
            {"heads": head, "cells": [line.get(column) for column in columns]}
            for head, line in zip(_spans(heads), lines.values(), strict=True)
        ],
    }


def _of_cells(evaluation: Evaluation, table: Table, printed: list[Shown]) -> list[Shown]:
    """Return the entries of a table with those of its cells, in the order of its headings."""
    known = {(metric, *at.items()): cell for metric, at, cell in printed}
    cells = evaluation.cells.all
    ranks = {
        name: [*condition.names, *dict.fromkeys(str(cell[name]) for cell in cells)]
        for name, condition in evaluation.study.description.conditions.items()
    }

    def order(cell: Cell) -> list[float]:
        values = [(name, cell.conditions[name]) for name in (*table.rows, *table.columns)]
        return [value if isinstance(value, float) else ranks[name].index(value) for name, value in values]

    found: list[Shown] = []
    for cell in sorted(cells, key=order):
        for metric in table.metrics:
            if (key := (metric, *cell.conditions.items())) in known:
                found.append((metric, cell.conditions, known[key]))
            elif matches(cell.conditions, table.cells or {}):
                found.append((metric, cell.conditions, _alone(evaluation, metric, cell)))
    return found


def _alone(evaluation: Evaluation, metric: str, cell: Cell) -> dict[str, Any] | None:
    """Return the entry of a cell about which nothing is published; None without a value."""
    samples = evaluation.cells.samples(metric, cell)
    if not np.isfinite(samples).any():
        return None
    found = estimate(samples)
    low, high = ends(found)
    return {
        "published": "", "estimate": f"{found.mean:.3g}", "error": "",
        "interval": f"[{low:.3g}, {high:.3g}]" if low < high else "", "match": None, "fitted": False,
        "note": "", "screening": "",
    }  # fmt: skip


def _spans(heads: list[list[str]]) -> list[list[dict[str, Any]]]:
    """Headings; one that repeats in the next spans them, and has no span there."""
    found = []
    for head in heads:
        line = []
        for i, text in enumerate(head):
            same = [other for other in heads if other[: i + 1] == head[: i + 1]]
            inner = i == len(head) - 1
            line.append({"text": text, "span": 1 if inner else len(same) if same[0] is head else 0})
        found.append(line)
    return found


def _cell(evaluation: Evaluation, row: Compared | None) -> dict[str, Any] | None:
    if row is None:
        return None
    return {
        "published": wording.printed(row.published),
        "estimate": wording.estimate(row),
        "error": wording.error(row),
        "interval": wording.interval(row),
        "match": match(evaluation, row),
        "fitted": bool(row.fitted),
        "note": row.note,
        "screening": wording.number(row.screening.mean, row.published.step) if row.screening else "",
    }


def _line(evaluation: Evaluation, row: Compared) -> dict[str, Any]:
    published = row.published
    return {
        **(_cell(evaluation, row) or {}),
        "place": wording.place(published),
        "quantity": wording.with_unit(evaluation.study.description.label(published.metric), published.unit),
        "conditions": wording.conditions(evaluation.study.description, published.conditions),
    }


def mismatches(evaluation: Evaluation) -> list[dict[str, Any]]:
    """The numbers that do not match or need a word, by explanation."""
    rows = [row for row in evaluation.rows if not _counts(evaluation, row)]
    notes = list(dict.fromkeys(row.note for row in rows))
    rows.sort(key=lambda row: (not row.note, notes.index(row.note)))
    return [
        {"head": note or "No explanation known.", "rows": [_line(evaluation, row) for row in group]}
        for note, group in groupby(rows, key=lambda row: row.note)
    ]


def _counts(evaluation: Evaluation, row: Compared) -> bool:
    """Return whether a number needs no explanation: it matches, or it has neither a tolerance nor a note."""
    near = match(evaluation, row)
    return bool(near) if evaluation.study.description.exact else near is not False and not row.note


def others(evaluation: Evaluation, shown: set[int]) -> list[dict[str, Any]]:
    """The numbers that are not `shown` (by identity) in a table, by where the paper has them."""
    rows = [row for row in evaluation.rows if id(row) not in shown]
    places = list(dict.fromkeys(wording.place(row.published) for row in rows))
    rows.sort(key=lambda row: places.index(wording.place(row.published)))
    return [
        {"head": wording.capital(place), "rows": [_line(evaluation, row) for row in group]}
        for place, group in groupby(rows, key=lambda row: wording.place(row.published))
    ]
