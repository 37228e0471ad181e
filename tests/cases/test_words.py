"""Messages: names that are known and not supported are no misspellings, and the remedies are accepted."""

import re
from pathlib import Path

import pytest

from netcarlo import InputError, Scenario, configs, load_scenario
from netcarlo.networks import traces
from netcarlo.schema import unsupported
from netcarlo.schema.document import read_value

PATH = {
    "duration": "1 s", "replications": 2, "transport": {"protocol": "newreno"},
    "hops": [{"rate": "1 Mbit/s", "delay": "1 ms"}],
}  # fmt: skip


def said(data):
    with pytest.raises(InputError) as no:
        Scenario.check(data)
    return str(no.value)


def accepted(remedy, data):
    """Check the scenario with the fields that a remedy, `write a: b, c: d`, names in its transport."""
    fields = dict(part.split(": ", 1) for part in remedy.removeprefix("write ").split(", "))
    return Scenario.check({**data, "transport": {name: read_value(value) for name, value in fields.items()}})


@pytest.mark.parametrize("name", sorted(unsupported.PROTOCOLS))
def test_known_protocols_are_never_taken_for_misspellings_and_the_remedy_works(name):
    message = said({**PATH, "transport": {"protocol": name.upper() if len(name) > 6 else name}})
    assert "is not supported: " in message and "did you mean" not in message
    known = unsupported.PROTOCOLS[name]
    assert known.what in message and known.remedy in message
    accepted(known.remedy + (", rate: 1 Mbit/s" if known.write["protocol"] == "udp" else ""), PATH)
    control = said({**PATH, "transport": {"protocol": "linux", "congestion_control": name}}) if (
        name not in ("bbr", "bbr3")
    ) else ""
    assert not control or known.what in control


@pytest.mark.parametrize("name", sorted(unsupported.STANDARDS))
def test_standards_of_wireless(name):
    starter = Path(configs.__file__).parent / "starters" / "wireless.yaml"
    with pytest.raises(InputError) as no:
        load_scenario(starter, values={"wireless.standard": name})
    message = str(no.value)
    load_scenario(starter, values={"wireless.standard": "802.11g"})
    assert "is not supported: 802.11n and later" in message and "write standard: 802.11g" in message


def test_ecn_of_linux():
    message = said({**PATH, "transport": {"protocol": "linux", "ecn": True}})
    assert "ECN is not simulated with linux; write protocol: newreno" in message
    accepted("write protocol: newreno", PATH)


def test_a_trace_that_is_too_long_says_what_answers_the_same_question():
    every = [ms for ms in range(1, traces.MOST + 2) for _ in range(1 + ms % 3)]
    with pytest.raises(InputError, match="rate of each 100 ms, 120 kbit/s for each packet in it"):
        traces.trace("\n".join(map(str, every)))
    end = -(-every[-1] // 100)
    counts = [0] * end
    for ms in every:
        counts[(ms - 1) // 100] += 1
    lines = [f"{k / 10} s,{120 * count} kbit/s" for k, count in enumerate(counts)]
    remedied = traces.trace("\n".join(["time,rate", *lines, f"{end / 10} s"]))
    assert remedied.mean("rate") == pytest.approx(12e3 * len(every) / (end / 10))
    many = "\n".join(str(ms) for ms in range(1, 1001) for _ in range(200))  # 200,000 lines, 1000 milliseconds
    assert traces.trace(many).mean("rate") == pytest.approx(200 * 12e3 * 1000)


@pytest.mark.parametrize("outages", [
    {"up": "8756 h", "down": "4 h"}, {"up": "1 h", "down": "300 h"}, {"down": "4 h a year"}, "4 h a year",
    {"up": "1 h", "down": "5 min per day"}, "2/month",
])  # fmt: skip
def test_rare_outages_are_refused_with_the_reason_and_what_works(outages):
    message = said({**PATH, "hops": [{**PATH["hops"][0], "outages": outages}]})
    assert "longer than a run are not simulated, because a run lasts 10 days at most" in message
    remedy = read_value(re.search(r"outages: (\[.*?\])", message)[1])
    Scenario.check({**PATH, "duration": "100 s", "hops": [{**PATH["hops"][0], "outages": remedy}]})
