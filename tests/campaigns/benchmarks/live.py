"""Response times of the page of `netcarlo live`, measured in a browser.

    python -m tests.campaigns live [--warm]

Starts a server with an empty cache (with `--warm`, the present cache), opens a page of
configs/examples/lossy_hop.yaml, and moves ten sliders, each after the previous answer is complete. The
browser measures the times, from its navigation or from the event of the slider to the change of the page.
"""

import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.campaigns import parser
from tests.reports.browser import Page, browser

ROOT = Path(__file__).parents[3]
FIELDS = ("hops.0.loss", "hops.0.rate", "hops.0.delay", "hops.0.queue", "transport.window")
PRECISE = 2.0
"""Half-width of the interval that the estimate by packets must reach [% of the mean]."""

MOVES = 10

REST = "document.querySelector('.numbers').innerText.includes('packets: 200 replications')"
WATCH = """
window.seen = [];
new MutationObserver(() => {
  const numbers = document.querySelector(".numbers");
  if (!numbers) { return; }
  const width = /\\u00b1([0-9.e-]+) %/.exec(numbers.innerText);
  window.seen.push({at: performance.now(), state: numbers.dataset.state, text: numbers.innerText,
    formula: numbers.innerText.includes("formula:"), width: width ? Number(width[1]) : null});
}).observe(document, {childList: true, subtree: true, characterData: true, attributes: true});
"""
MOVE = """
(() => {
  const element = document.getElementById(ID), places = Number(element.max) + 1;
  const value = (Number(element.value) + STEP) % places;
  window.seen = [];
  window.moved = performance.now();
  Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value").set.call(element, String(value));
  element.dispatchEvent(new Event("input", {bubbles: true}));
  element.dispatchEvent(new Event("change", {bubbles: true}));
})()
"""


def moved(page: Page, field: str, step: int) -> tuple[float, float, bool]:
    """Return times to the first answer and to a precise one [ms], and whether the formula gave the first."""
    name = json.dumps(json.dumps({"field": field, "kind": "slider", "side": "a"}, separators=(",", ":")))
    before = page.evaluate("location.search")
    page.evaluate(MOVE.replace("ID", name).replace("STEP", str(step)))
    page.wait(f"location.search !== {json.dumps(before)}")
    new = "window.seen.filter(s => s.state === location.search.slice(1))"
    precise = f"{new}.filter(s => s.width !== null && s.width <= {PRECISE} && s.text.includes('packets:'))"
    page.wait(f"{precise}.length > 0")
    found = page.evaluate(f"[{new}[0].at - window.moved, {precise}[0].at - window.moved, {new}[0].formula]")
    return found[0], found[1], found[2]


def main() -> None:
    """Print the times."""
    asked = parser(__doc__)
    asked.add_argument("--warm", action="store_true", help="with what is compiled already")
    warm = asked.parse_args().warm
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, **({} if warm else {"NETCARLO_CACHE": f"{folder}/cache"})}
        command = [sys.executable, "-m", "netcarlo", "live", "configs/examples/lossy_hop.yaml", "--port", "0"]
        started = time.monotonic()
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT, env=environment)
        try:
            assert process.stdout is not None
            found = re.match(r"(http\S+)", process.stdout.readline())
            assert found is not None
            print(f"server ready after {time.monotonic() - started:.1f} s")
            with browser(Path(folder) / "profile") as page:
                page.call("Page.addScriptToEvaluateOnNewDocument", source=WATCH)
                page.visit(found[1], width=1600, height=1000)
                page.wait("window.seen && window.seen.some(s => s.state === '')")
                first = page.evaluate("window.seen.filter(s => s.state === '')[0]")
                by = "formula" if first["formula"] else "packets"
                print(f"first answer {first['at'] / 1000:.2f} s after opening, by {by}")
                page.wait(REST, most_s=300)
                page.wait("document.querySelectorAll('.js-plotly-plot .main-svg').length > 3")
                print(f"at rest {page.evaluate('performance.now()') / 1000:.1f} s after opening")
                times = []
                for k in range(MOVES):
                    page.wait(REST)
                    time.sleep(1)  # remaining drawing
                    times.append(moved(page, FIELDS[k % len(FIELDS)], 3 + k // len(FIELDS)))
        finally:
            process.terminate()
            process.wait()
    first_ms, precise_ms, by_formula = zip(*times, strict=True)
    print(f"{sum(by_formula)} of {len(times)} first answers by the formula, the others by packets already")
    for name, values in (("first answer [ms]", first_ms), ("packets within 2 % [ms]", precise_ms)):
        every = ", ".join(f"{value:.0f}" for value in sorted(values))
        print(f"{name}: median {statistics.median(values):.0f}, of {every}")
