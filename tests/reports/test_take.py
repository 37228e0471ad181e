"""Exports of a page: pictures, numbers and a link to the same view; accessibility."""

import csv
import struct
import time
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest

from netcarlo.reports.sweep.page import sweep_page
from tests.reports.browser import Page
from tests.reports.first_look import TOO_WIDE
from tests.reports.test_sweep_page import AXES, made, show

pytestmark = pytest.mark.needs("chromium")


@pytest.fixture(scope="module")
def sweep(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the page of a sweep over axes, with a menu at each figure."""
    file = tmp_path_factory.mktemp("take") / "sweep.html"
    manifest, frame = made(axes=AXES)
    file.write_text(sweep_page(manifest, frame, store="results/it"), encoding="utf-8")
    return file


def taken(page: Page, folder: Path, plot: str, kind: str) -> bytes:
    """Return the file that the button of a figure saves."""
    page.save_to(folder)
    page.evaluate(
        f"[...document.getElementById('{plot}').parentNode.querySelectorAll('.take button')]"
        f".find(b => b.textContent === '{kind}').click()"
    )
    file, deadline = folder / f"{plot}.{kind.lower()}", time.monotonic() + 30
    while not file.is_file():
        assert time.monotonic() < deadline, f"{file} was not saved; {page.complaints()}"
        time.sleep(0.05)
    return file.read_bytes()


def choose(page: Page, plot: str, value: int) -> None:
    page.evaluate(
        f"(box => {{ box.value = '{value}'; box.dispatchEvent(new Event('change')); }})"
        f"(document.querySelector('select[data-plot={plot}]'))"
    )


def show_at(page: Page, path: Path, address: str) -> None:
    """Open the page at an address, as a reader with a link does."""
    page.call("Page.navigate", url="about:blank")
    page.call("Page.navigate", url=path.resolve().as_uri() + address)
    deadline = time.monotonic() + 30
    while not page.evaluate("!!document.querySelector('#line-0[data-drawn]')"):
        assert time.monotonic() < deadline
        time.sleep(0.05)


def drawn(page: Page, plot: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = page.evaluate(
        f"document.getElementById('{plot}').data.filter(t => !t.meta.decoration)"
        ".map(t => ({name: t.name, x: t.x, y: t.y, z: t.meta.z || t.z}))"
    )
    return found


@pytest.mark.full
def test_numbers_are_those_of_the_figure_that_is_shown(sweep: Path, page: Page, tmp_path: Path) -> None:
    show(page, sweep, "wide")
    choose(page, "line-0", 1)
    table = list(csv.reader(taken(page, tmp_path, "line-0", "CSV").decode().splitlines()))
    points = {(name, float(x), float(y)) for name, x, y, *_ in table[1:]}
    shown = {
        (trace["name"], x, y)
        for trace in drawn(page, "line-0")
        for x, y in zip(trace["x"], trace["y"], strict=True)
        if y is not None
    }
    assert points == shown
    title = page.evaluate("document.getElementById('line-0').layout.xaxis.title.text")
    assert table[0][:2] == ["series", title]
    assert page.complaints() == []


@pytest.mark.full
def test_map_is_a_row_for_each_of_its_fields(sweep: Path, page: Page, tmp_path: Path) -> None:
    show(page, sweep, "wide")
    table = list(csv.reader(taken(page, tmp_path, "map", "CSV").decode().splitlines()))
    [heat] = [trace for trace in drawn(page, "map") if trace["z"]]
    assert len(table) - 1 == sum(len(row) for row in heat["z"])
    assert {row[3] for row in table[1:]} == {z for row in heat["z"] for z in row} <= {"TCP", "SCTP"}


@pytest.mark.full
def test_pictures(sweep: Path, page: Page, tmp_path: Path) -> None:
    show(page, sweep, "phone")
    svg = ET.fromstring(taken(page, tmp_path, "line-0", "SVG"))
    assert (svg.tag.rpartition("}")[2], svg.get("width"), svg.get("height")) == ("svg", "1000", "560")
    png = taken(page, tmp_path, "line-0", "PNG")
    assert png.startswith(b"\x89PNG")
    assert struct.unpack(">II", png[16:24]) == (2000, 1120)
    assert page.complaints() == []


@pytest.mark.full
def test_table_follows_the_choice(sweep: Path, page: Page) -> None:
    show(page, sweep, "phone")
    lines = "[...document.querySelectorAll('#line-0 ~ .data tr')]"
    rows = f"{lines}.map(r => [...r.cells].map(c => c.textContent))"
    page.evaluate("document.querySelector('#line-0 ~ .data').open = true")
    page.evaluate("new Promise(done => setTimeout(done, 200))")
    before = page.evaluate(rows)
    assert len(before) - 1 == sum(len(trace["y"]) for trace in drawn(page, "line-0"))
    choose(page, "line-0", 1)
    page.evaluate("new Promise(done => setTimeout(done, 500))")
    after = page.evaluate(rows)
    assert after != before
    assert {float(row[2]) for row in after[1:]} == {y for t in drawn(page, "line-0") for y in t["y"]}
    assert page.evaluate(TOO_WIDE) <= 0


@pytest.mark.full
def test_address_shows_what_was_chosen(sweep: Path, page: Page) -> None:
    show(page, sweep, "wide")
    choose(page, "line-0", 1)
    chosen, address = drawn(page, "line-0"), page.evaluate("window.location.hash")
    assert address.startswith("#line-0=1")
    show_at(page, sweep, address)
    assert drawn(page, "line-0") == chosen
    assert page.complaints() == []


@pytest.mark.full
def test_an_address_without_a_valid_choice_is_ignored(sweep: Path, page: Page) -> None:
    show(page, sweep, "wide")
    as_it_is = drawn(page, "line-0")
    for address in ("#line-0=99", "#line-0=x.%", "#line-0", "#=&=&%41", "#map"):
        show_at(page, sweep, address)
        assert drawn(page, "line-0") == as_it_is, address
        assert page.complaints() == [], address


@pytest.mark.full
def test_page_is_readable_in_the_dark(sweep: Path, page: Page) -> None:
    page.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark"}])
    show(page, sweep, "wide")
    assert page.evaluate("getComputedStyle(document.body).color") == "rgb(228, 233, 239)"
    assert page.barriers() == []


@pytest.mark.full
def test_barriers_are_seen(sweep: Path, page: Page) -> None:
    show(page, sweep, "wide")
    bad = '<p style="color:#ccc">pale</p><button></button>'
    page.evaluate(f"document.body.insertAdjacentHTML('beforeend', '{bad}')")
    found = {barrier.partition(":")[0] for barrier in page.barriers()}
    assert found == {"color-contrast", "button-name"}
