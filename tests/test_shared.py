"""Shared fixtures start once, and again if a test has left them unusable."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.reports.browser import Browser, started
from tests.shared import Shared


def test_it_is_started_once_and_anew_where_it_is_unusable() -> None:
    said: list[str] = []

    @contextmanager
    def start() -> Iterator[SimpleNamespace]:
        said.append("started")
        yield SimpleNamespace(usable=True)
        said.append("ended")

    shared = Shared(start, lambda one: bool(one.usable))
    assert shared.get() is shared.get()
    shared.get().usable = False
    assert shared.get().usable
    shared.close()
    shared.close()
    assert said == ["started", "ended", "started", "ended"]


STORED = "[localStorage.length, matchMedia('(prefers-color-scheme: dark)').matches, innerWidth === 500]"


@pytest.mark.needs("chromium")
def test_nothing_of_a_page_is_left_to_the_next(browser: Browser, tmp_path: Path) -> None:
    file = tmp_path / "page.html"
    file.write_text("<script>console.error('said')</script>")
    with browser.page() as first:
        first.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark"}])
        first.open(file, width=500, height=500)
        first.evaluate("localStorage.setItem('name', 'value')")
        assert first.evaluate(STORED) == [1, True, True]
        with browser.page() as other:  # while the first is open
            other.visit(file.as_uri(), width=600, height=500)
            other.wait("document.readyState === 'complete'")
            assert other.evaluate(STORED) == [0, False, False]
        assert len(first.complaints()) == len(other.complaints()) == 1


@pytest.mark.needs("chromium")
def test_what_the_page_before_asks_for_is_no_complaint(browser: Browser, tmp_path: Path) -> None:
    busy, quiet = tmp_path / "busy.html", tmp_path / "quiet.html"
    busy.write_text(
        "<script>for (let i = 0; i < 10; i++) setInterval(() => fetch('http://127.0.0.1:9/'))</script>"
    )
    quiet.write_text("quiet")
    with browser.page() as page:
        for _ in range(5):
            page.visit(busy.as_uri(), width=500, height=500)
            page.wait("document.readyState === 'complete'")
            page.visit(quiet.as_uri(), width=500, height=500)
            page.wait("document.body?.textContent === 'quiet'")
            assert page.complaints() == []


@pytest.mark.full
@pytest.mark.needs("chromium")
def test_a_browser_that_ended_is_replaced(tmp_path: Path) -> None:
    folders = iter([tmp_path / "first", tmp_path / "second"])
    shared = Shared(lambda: started(next(folders)), Browser.answers)
    with shared.get().page() as page:
        shared.get().process.kill()
        with pytest.raises(RuntimeError, match="the browser ended"):
            page.evaluate("new Promise(() => 0)")
    with shared.get().page() as page:
        assert page.evaluate("1 + 1") == 2
    shared.close()
