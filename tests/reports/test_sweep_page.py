"""The report of a sweep: its numbers, its size, and what it looks like in a real browser."""

import re
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from netcarlo.reports.sweep_page import sweep_page
from tests.reports.browser import Page
from tests.sweeps import tables

WINDOWS = {"wide": (1600, 1000, False), "phone": (390, 844, True)}
Made = tuple[dict[str, Any], pd.DataFrame]


def made(*, failed: tuple[int, ...] = (), reached: float = 1.0, **options: Any) -> Made:
    """A manifest and the frame of its store."""
    manifest = tables.manifest(**options)
    cells = range(int(manifest["sweep"]["n_cells"] * reached))
    return manifest, tables.table(manifest, cells, failed=failed).to_pandas()


AXES = [
    tables.axis("outage", [0.5, 1.0, 2.0, 8.0], unit="s", log=True),
    tables.axis("bandwidth", [64e3, 1e6, 1e7], unit="bit/s", log=True),
    tables.axis("queue", ["drop tail", "red"]),
    tables.axis("protocol", ["TCP", "SCTP"]),
]
DRAWN = {"draw": 64, "blocks": 8}
CASES: dict[str, dict[str, Any]] = {
    "axes": {"axes": AXES},
    "drawn": DRAWN,
}


def show(page: Page, path: Path, window: str) -> None:
    width, height, mobile = WINDOWS[window]
    page.open(path, width=width, height=height, mobile=mobile)
    assert page.complaints() == []
    assert page.evaluate("document.documentElement.scrollWidth - window.innerWidth") <= 0


@pytest.mark.needs("chromium")
@pytest.mark.parametrize("window", WINDOWS)
@pytest.mark.parametrize("case", CASES)
def test_page_is_drawn_without_complaints(page: Page, tmp_path: Path, case: str, window: str) -> None:
    path = tmp_path / "report.html"
    path.write_text(sweep_page(*made(**CASES[case]), store="results/it"), encoding="utf-8")
    show(page, path, window)
    assert page.evaluate("document.querySelectorAll('.plot').length") >= 3
    markup = re.sub(r"<script>.*?</script>", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
    assert re.findall(r'(?:src|href)="(?:https?:)?//', markup) == []
