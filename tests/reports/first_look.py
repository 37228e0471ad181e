"""First view of a page, without scrolling or clicking, on a screen and on a phone.

Each kind of page has a test of this, `test_first_look_at_NAME`. It opens the page on a screen and then makes
the window that of a phone; tests of the second tier open pages on a phone. Where the environment variable
NETCARLO_SCREENSHOTS names a folder, these tests write a PNG of each page at each width into it.
"""

import json
import os
from contextlib import suppress
from pathlib import Path

from tests.reports.browser import Page

WINDOWS = {"desktop": (1400, 900, False), "phone": (390, 844, True)}
"""Width and height of a window [pixels], and whether it is that of a phone."""

_IN_WINDOW = """
(said => {
  const holds = element => element.textContent.replace(/\\s+/g, ' ').includes(said);
  return [...document.querySelectorAll('body *')].some(element => {
    if (!holds(element) || [...element.children].some(holds) || !element.checkVisibility()) { return false; }
    const box = element.getBoundingClientRect();
    return box.left >= 0 && box.right <= innerWidth && box.top >= 0 && box.bottom <= innerHeight;
  });
})"""

_DRAWN = """
(name => {
  const figure = document.getElementById(name);
  const marks = '.main-svg .trace path, .main-svg .bars path, .main-svg image, .main-svg .violins path';
  if (!figure || figure.getBoundingClientRect().right > innerWidth) { return false; }
  return [...figure.querySelectorAll(marks)].some(mark => {
    const box = mark.getBoundingClientRect();
    return box.width + box.height > 2 && box.right <= innerWidth;
  });
})"""


TOO_WIDE = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
"""Pixels by which the page is wider than its window (on a phone `innerWidth` grows with the page)."""

_SETTLED = """
[...document.querySelectorAll('.main-svg')].every(drawn => {
  const box = drawn.getBoundingClientRect(), room = drawn.closest('.js-plotly-plot').getBoundingClientRect();
  return Math.abs(box.width - room.width) < 2 && Math.abs(box.height - room.height) < 2;
})"""


def first_look(page: Page, file: Path, *, says: str, figure: str = "") -> None:
    """Check the page in a file: its answer `says` this, and its main `figure` has this name."""
    width, height, mobile = WINDOWS["desktop"]
    page.open(file, width=width, height=height, mobile=mobile)
    check(page, file.stem, says=says, figure=figure)


def check(page: Page, name: str, *, says: str, figure: str, origin: str = "file:") -> None:
    """Check the open page, which comes from `origin`, at each width."""
    found = []
    for window, (width, height, mobile) in WINDOWS.items():
        page.resize(width=width, height=height, mobile=mobile)
        with suppress(TimeoutError):  # is reported below
            page.wait(_SETTLED, most_s=30)
        found += [f"{window}: {fault}" for fault in faults(page, says=says, figure=figure, origin=origin)]
        if folder := os.environ.get("NETCARLO_SCREENSHOTS"):
            page.screenshot(Path(folder) / f"{name}-{window}.png")
    assert not found, f"{name}: {'; '.join(found)}"


def faults(page: Page, *, says: str, figure: str, origin: str = "file:") -> list[str]:
    """Return the faults of the open page that a reader notices at once."""
    found = page.complaints(origin)
    if (over := page.evaluate(TOO_WIDE)) > 0:
        found.append(f"the page is {over} pixels wider than its window")
    if not page.evaluate(f"{_IN_WINDOW}({json.dumps(says)})"):
        found.append(f"not seen without scrolling: {says}")
    if figure and not page.evaluate(f"{_DRAWN}({json.dumps(figure)})"):
        found.append(f"figure {figure} shows nothing")
    return found
