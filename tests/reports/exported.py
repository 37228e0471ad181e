"""Rows that a reader exports from a page, and their faults."""

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple

from tests.reports.browser import Page

Row = list[str]

EXACT = ("shares", "moves")
"""Figures whose intervals may have no width."""

_READ = """
[...document.querySelectorAll('.plot')].filter(
  plot => ONLY.length === 0 || ONLY.includes(plot.id)
).map(plot => {
  const data = plot.parentNode.querySelector('.data');
  data.open = true;
  data.dispatchEvent(new Event('toggle'));
  return {
    name: plot.id,
    rows: [...data.querySelectorAll('tr')].map(row => [...row.cells].map(cell => cell.textContent)),
    traces: plot.data.map(trace => ({
      name: trace.name || '', lines: (trace.mode || 'lines').includes('lines') && !trace.type && !trace.z,
      flat: !!trace.error_x, map: !!trace.z,
    })),
  };
})
"""


class Table(NamedTuple):
    """Exported rows of one figure, as its page shows them below 'Data' (at most 500)."""

    name: str
    head: Row
    rows: list[Row]
    traces: list[dict[str, Any]]

    def column(self, name: str) -> list[str]:
        return [row[self.head.index(name)] for row in self.rows]


def tables(page: Page, *only: str) -> dict[str, Table]:
    """Return the table of each figure of the open page, or of `only` these."""
    found = {}
    for one in page.evaluate(_READ.replace("ONLY", str(list(only)))):
        head, *rows = one["rows"]
        found[one["name"]] = Table(one["name"], head, rows, one["traces"])
    return found


def choices(page: Page) -> Iterator[str]:
    """Choose some options of every menu of the page, one at a time, and yield the figure of each."""
    count = page.evaluate("document.querySelectorAll('select[data-plot]').length")
    for k in range(count):
        box = f"document.querySelectorAll('select[data-plot]')[{k}]"
        options = page.evaluate(f"[...{box}.options].filter(o => !o.disabled).map(o => o.value)")
        for value in options[1:3]:
            page.evaluate(
                f"(box => {{ box.value = '{value}'; box.dispatchEvent(new Event('change')); }})({box})"
            )
            yield str(page.evaluate(f"{box}.dataset.plot"))


def faults(page: Page, *only: str, widths: bool = True) -> list[str]:
    """Return the faults in the exported rows of the figures of the page, or of `only` these.

    Without `widths`, intervals of width zero are accepted, because all replications of a cell can be
    equal.
    """
    found = tables(page, *only).items()
    return [f"{name}: {fault}" for name, table in found for fault in wrong(table, widths=widths)]


def wrong(table: Table, *, widths: bool = True) -> list[str]:
    """Return the faults in the exported rows of one figure."""
    found = []
    if not table.rows:
        found.append("no rows")
    if table.head[:1] != ["series"] or {"x", "y"} & set(table.head):
        found.append(f"columns without a name: {table.head}")
    if len(set(table.head)) < len(table.head):
        found.append(f"columns of the same name: {table.head}")
    found += [f"a series called '{row[0]}'" for row in table.rows if re.fullmatch(r"trace \d+|", row[0])]
    found += _intervals(table, widths=widths)
    places = [
        1,
        2,
        *(i for i, name in enumerate(table.head) if name in ("run", "cell", "node", "piece", "number")),
    ]
    once = {trace["name"] for trace in table.traces if trace["lines"] and not trace["flat"]}
    keys = Counter(
        (row[0], row[1]) if row[0] in once and not {"cell", "node"} & set(table.head)
        else tuple(row[i] for i in (0, *places) if i < len(row))
        for row in table.rows
    )  # fmt: skip
    intervals = "low" in table.head
    found += [f"{n} rows of {key}" for key, n in keys.items() if n > 1 and (intervals or key[0] in once)]
    return found


def _intervals(table: Table, *, widths: bool) -> list[str]:
    """Yield intervals that do not contain their value, and those of width zero unlike their neighbours.

    Shares of a grid's points and the steps of a plan's answer may be known exactly.
    """
    if "low" not in table.head:
        return []
    low, high = table.head.index("low"), table.head.index("high")
    known = [row for row in table.rows if row[low] and row[high]]
    values = [i for i in range(1, len(table.head)) if i not in (low, high) and _numbers(known, i)]
    holds = [i for i in values if all(float(row[low]) <= float(row[i]) <= float(row[high]) for row in known)]
    found = [] if holds or not known else [f"no column lies within low and high, such as in {known[0]}"]
    flat = [row for row in known if float(row[low]) == float(row[high])]
    wide = {row[0] for row in known if float(row[low]) < float(row[high])}
    if table.name in EXACT or not widths:
        return found
    return found + [f"an interval without a width: {row}" for row in flat if row[0] in wide]


def _numbers(rows: list[Row], i: int) -> bool:
    try:
        [float(row[i]) for row in rows]
    except ValueError:
        return False
    return True
