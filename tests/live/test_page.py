"""Live page in headless Chromium: sliders are dragged and numbers read."""

import json
import math
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from netcarlo import compare, estimate, load_scenario
from netcarlo.live import wording
from netcarlo.numerics.statistics import Mean
from netcarlo.planning import load_plan
from netcarlo.planning import plan as answer_plan
from netcarlo.reports.parts import scales
from netcarlo.reports.plan import wording as plan_words
from netcarlo.scenario import scenario_of
from tests.reports.browser import Browser, Page
from tests.reports.first_look import WINDOWS, check, first_look

Serve = Callable[[Path], str]
pytestmark = pytest.mark.needs("chromium")

WIDE, PHONE = {"width": 1600, "height": 1000}, {"width": 390, "height": 844, "mobile": True}
NUMBERS = "document.querySelector('.numbers')"
DRAWN = "document.querySelectorAll('.js-plotly-plot .main-svg').length > 3"


def shown(page: Page) -> list[list[str]]:
    """Return the name, number, unit, interval and source of each number on the page."""
    parts = "['.name', '.value', '.unit', '.interval', '.by']"
    texts = f"{parts}.map(part => number.querySelector(part).textContent)"
    script = f"[...document.querySelectorAll('.numbers > .number')].map(number => {texts})"
    found: list[list[str]] = page.evaluate(script)
    return found


def said(outcome: str, mean: Mean) -> list[str]:
    """Return number, unit and interval that the page should show for a mean."""
    scale = scales.scale([mean.mean], wording.unit(outcome))
    return [wording.number(mean, scale), scale.unit, wording.interval(mean, scale)]


def estimated(file: Path, of: str = "goodput_bps", **values: Any) -> list[str]:
    """Return the numbers that `netcarlo estimate` prints."""
    row = estimate(load_scenario(file, values=values)).table.loc[of]
    return said(of, Mean(*(row[column] for column in Mean._fields)))


def control(kind: str, field: str, side: str = "a") -> str:
    """Return the element of a control, in JavaScript."""
    name = json.dumps({"field": field, "kind": kind, "side": side}, separators=(",", ":"))
    return f"document.getElementById({json.dumps(name)})"


def still(page: Page, place: str) -> list[float]:
    """Return a position on the page after everything is drawn and the position has not changed for a
    while.
    """
    page.wait(DRAWN)
    before, found = [], page.evaluate(place)
    while found != before:
        time.sleep(0.3)
        before, found = found, page.evaluate(place)
    return list(found)


def slide(page: Page, field: str, share: float, side: str = "a") -> None:
    """Drag the knob of a slider with the mouse to a share of its range."""
    box = f"{control('slider', field, side)}.getBoundingClientRect()"
    page.evaluate(f"{control('slider', field, side)}.scrollIntoView({{block: 'center'}})")
    left, top, width, height = still(page, f"(b => [b.left, b.top, b.width, b.height])({box})")
    least, most, value = page.evaluate(
        f"(e => [e.min, e.max, e.value].map(Number))({control('slider', field, side)})"
    )
    knob = 8  # half its width
    start, end = (
        left + knob + part * (width - 2 * knob) for part in ((value - least) / (most - least), share)
    )
    y = top + height / 2
    mouse = {"button": "left", "buttons": 1, "clickCount": 1}
    page.call("Input.dispatchMouseEvent", type="mousePressed", x=start, y=y, **mouse)
    for k in range(1, 6):
        page.call(
            "Input.dispatchMouseEvent", type="mouseMoved", x=start + (end - start) * k / 5, y=y, **mouse
        )
    page.call("Input.dispatchMouseEvent", type="mouseReleased", x=end, y=y, **mouse)


def choose(page: Page, field: str, value: str, side: str = "a") -> None:
    """Choose an option of a menu."""
    menu = control("select", field, side)
    page.evaluate(
        f"{menu}.value = {json.dumps(value)}; {menu}.dispatchEvent(new Event('change', {{bubbles: true}}))"
    )


def query(page: Page) -> dict[str, str]:
    found: str = page.evaluate("location.search")
    return dict(urllib.parse.parse_qsl(found.lstrip("?")))


def rest(page: Page, text: str = "packets: 40 replications") -> None:
    """Wait until the numbers are those of the address, and have this text."""
    of_address = f"{NUMBERS}.dataset.state === location.search.slice(1)"
    condition = f"{NUMBERS} && {of_address} && {NUMBERS}.innerText.includes({json.dumps(text)})"
    page.wait(condition, most_s=240)  # where nothing is compiled yet


def first_look_at(page: Page, address: str, name: str, *, text: str, says: str) -> None:
    """Check the first view of the page at rest, with `text` among its numbers."""
    width, height, mobile = WINDOWS["desktop"]
    page.visit(address, width=width, height=height, mobile=mobile)
    rest(page, text)
    page.wait(DRAWN)
    check(page, name, says=says, figure="figure-0", origin=address)


def test_first_look_at_live_scenario(glance: Page, served: Serve, lossy: Path) -> None:
    number, unit, _ = estimated(lossy)
    text = "packets: 40 replications"
    first_look_at(glance, served(lossy), "live_scenario", text=text, says=f"{number} {unit}")


def test_first_look_at_live_plan(glance: Page, served: Serve, plan: Path) -> None:
    says = plan_words.known(answer_plan(load_plan(plan), target="cpu"))
    first_look_at(glance, served(plan), "live_plan", text="point estimate", says=says)


def test_first_look_at_estimate(glance: Page, served: Serve, lossy: Path, tmp_path: Path) -> None:
    number, unit, _ = estimated(lossy)
    file = tmp_path / "estimate.html"
    file.write_text(take(served(lossy), "report.html"), encoding="utf-8")
    first_look(glance, file, says=f"{number} {unit}", figure="figure-0")


@pytest.mark.full
def test_a_slider_is_dragged_and_the_new_number_read(page: Page, served: Serve, lossy: Path) -> None:
    address = served(lossy)
    page.visit(address, **WIDE)
    rest(page)
    assert shown(page)[0][1:4] == estimated(lossy)
    slide(page, "hops.0.loss", 1.0)
    page.wait("location.search.includes('hops.0.loss=10')")
    rest(page)
    assert query(page) == {"hops.0.loss": "10 %"}
    assert shown(page)[0][1:4] == estimated(lossy, **{"hops.0.loss": "10 %"})
    choose(page, "of", "timeouts", "page")
    page.wait("location.search.includes('of=timeouts')")
    rest(page)
    assert shown(page)[0][1:4] == estimated(lossy, "timeouts", **{"hops.0.loss": "10 %"})
    page.wait(DRAWN)
    page.wait("document.querySelectorAll('#table tbody tr').length > 10")
    assert page.complaints(address) == []
    assert page.barriers() == []


@pytest.mark.full
def test_a_variant_has_the_paired_difference(page: Page, served: Serve, lossy: Path) -> None:
    address = served(lossy)
    page.visit(f"{address}?transport.window=8%20packets", **WIDE)
    rest(page)
    page.evaluate("document.getElementById('what-if').click()")
    rest(page, "paired: 40 replications")
    choose(page, "transport.protocol", "1", "b")
    page.wait("location.search.includes('if.transport.protocol=reno')")
    rest(page, "paired: 40 replications")
    assert shown(page)[1][0] == "what if protocol reno"
    base, other = (
        scenario_of(load_scenario(lossy), values={"transport.window": 8, "transport.protocol": p})
        for p in ("newreno", "reno")
    )
    row = compare(base, other).table.loc["goodput_bps"]
    number, unit, interval = said(
        "goodput_bps", Mean(40, row["difference"], math.nan, row["ci_low"], row["ci_high"])
    )
    found = shown(page)[2]
    assert found[1].lstrip("+") == number and found[2].startswith(unit)
    assert found[3] == interval.partition(", ±")[0]
    page.wait(DRAWN)
    assert page.complaints(address) == []
    assert page.barriers() == []


@pytest.mark.full
def test_a_bad_value_in_the_address_is_refused_by_name_and_the_page_lives_on(
    page: Page, served: Serve, lossy: Path
) -> None:
    address = served(lossy)
    page.visit(f"{address}?hops.0.loss=lots&transport.window=4%20packets", **PHONE)
    rest(page)
    refused = page.evaluate("document.getElementById('refused').textContent")
    assert refused.startswith("hops.0.loss = 'lots' is not a fraction; write")
    assert shown(page)[0][1:4] == estimated(lossy, **{"transport.window": "4 packets"})
    slide(page, "hops.0.rate", 0.0)
    page.wait("document.getElementById('refused').textContent === ''")
    rest(page)
    page.evaluate("document.querySelector('details.more').open = true")
    page.wait(DRAWN)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert page.complaints(address) == []
    assert page.barriers() == []
    # Conflicting fields give the error message of the command line.
    choose(page, "transport.protocol", "0")
    page.visit(f"{address}?of=handovers", **PHONE)
    page.wait("document.getElementById('error') && document.getElementById('error').textContent")
    assert page.evaluate("document.getElementById('error').textContent").startswith(
        "'handovers' is not measured here"
    )


@pytest.mark.full
def test_two_visitors_see_each_his_own(browser: Browser, page: Page, served: Serve, lossy: Path) -> None:
    address = served(lossy)
    with browser.page() as other:
        page.visit(f"{address}?hops.0.delay=20%20ms", **WIDE)
        other.visit(f"{address}?hops.0.delay=30%20ms", **PHONE)
        rest(page)
        rest(other)
        assert shown(page)[0][1:4] == estimated(lossy, **{"hops.0.delay": "20 ms"})
        assert shown(other)[0][1:4] == estimated(lossy, **{"hops.0.delay": "30 ms"})
        slide(other, "hops.0.delay", 1.0)
        other.wait("location.search.includes('hops.0.delay=100')")
        rest(other)
        assert query(page) == {"hops.0.delay": "20 ms"}
        assert other.complaints(address) == []


def take(address: str, name: str, query: str = "") -> str:
    with urllib.request.urlopen(f"{address}{name}?{query}") as found:
        return str(found.read().decode())


@pytest.mark.full
def test_what_can_be_taken(page: Page, served: Serve, lossy: Path, tmp_path: Path) -> None:
    address, state = served(lossy), "hops.0.loss=2%20%25&if=1&if.transport.protocol=sack"
    file = tmp_path / "taken.yaml"
    file.write_text(take(address, "scenario.yaml", state))
    expected = load_scenario(lossy, values={"hops.0.loss": "2 %"})
    assert load_scenario(file) == expected
    lines = take(address, "outcomes.csv", state).splitlines()
    exact = estimate(expected).table.loc["goodput_bps", "mean"]
    assert lines[1].split(",")[:2] == ["this", "goodput_bps"] and float(lines[1].split(",")[3]) == exact
    assert any(line.startswith("what if,goodput_bps,") for line in lines)
    assert "replication 0" in take(address, "trace.html", state)
    with pytest.raises(urllib.error.HTTPError) as caught:
        take(address, "report.html", "hops.0.loss=lots")
    assert caught.value.read().decode().startswith("error: hops.0.loss = 'lots' is not a fraction")
    report = tmp_path / "report.html"
    report.write_text(take(address, "report.html", state))
    for width, mobile in ((1600, False), (390, True)):
        page.open(report, width=width, height=900, mobile=mobile)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        number = said("goodput_bps", Mean(*estimate(expected).table.loc["goodput_bps", list(Mean._fields)]))[
            0
        ]
        assert number in page.evaluate("document.querySelector('.tile').textContent")
        assert page.complaints(address) == []  # late answers for the previous page
        assert page.barriers() == []


@pytest.mark.full
def test_a_plan_follows_its_requirement(page: Page, served: Serve, plan: Path) -> None:
    """The longest feasible link becomes shorter as the requirement becomes stricter."""
    address, field = served(plan), "requirements.goodput.goal"
    page.visit(address, **PHONE)
    rest(page, "point estimate")
    before = answer_plan(load_plan(plan), target="cpu")
    assert shown(page)[0][1] == plan_words.known(before)
    asked = f"(e => [e.min, e.max, e.value].map(Number))({control('slider', field)})"
    _, most, value = page.evaluate(asked)
    slide(page, field, (value + 1) / most)
    page.wait("location.search.includes('800%20kbit')")
    rest(page, "point estimate")
    after = answer_plan(load_plan(plan, values={f"{field}": "goodput_bps >= 800 kbit/s"}), target="cpu")
    assert shown(page)[0][1] == plan_words.known(after)
    assert (after.holds or 0) < (before.holds or 0)
    page.wait(DRAWN)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert page.complaints(address) == []
    assert page.barriers() == []
    assert "800 kbit/s" in take(address, "plan.yaml", "requirements.goodput.goal=800%20kbit/s")
    assert take(address, "curve.csv").startswith("delay,replications,verdict,")
