"""Recipes of `docs/reference/adding.md` in a copy of the package (for a network, see `test_toy`)."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.package_copy import build, run_python

ESTIMATE = """
import functools, json, sys
from netcarlo import Scenario, estimate
from netcarlo.kernels.base import bind
from netcarlo.kernels.runtime import compile as compilers

def loop_of(model):  # as Python: compiling takes longer
    simulate = model.make(compilers.plain)
    def loop(lo, hi, *arrays):
        *rows, losses, scratch, memory, out, trace = arrays
        for i in range(lo, hi):
            simulate(*(field[i] for field in rows), losses, scratch, memory, out[i], trace)
        return 0
    return loop

bind.looked_up = functools.cache(bind.looked_up)  # reads each function once
compilers.cpu_loop = loop_of
compilers.prepare = lambda models: None
base = {"duration": "3 s", "replications": 4}
answers = []
for asked in json.loads(sys.argv[1]):
    table = estimate(Scenario.check({**base, **asked}), target="cpu").table
    answers.append(table["mean"].dropna().to_dict())
print(json.dumps(answers))
"""

HOP = {"rate": "2 Mbit/s", "delay": "10 ms", "loss": "1 %"}
PATH = {"hops": [HOP, HOP]}
VEGAS = 'Sender("vegas", "ns2", "vegas", "aimd", 5, handshake=False, fluid="vegas", takes_controls=False)'
SENDERS = f"    {VEGAS},"
"""Line of `kernels/senders.py` after which another one is added."""
BRIEF = {"duration": "1 s", "replications": 1}
NETWORKS = (
    PATH,
    {"shared": {"dumbbell": HOP, "flows": [{"count": 2}]}},
    {"wireless": {"cell": {"stations": 1}, "each": {"frame_error": "20 %"}}},
    {"adhoc": {"nodes": 2, "area": {"side": "50 m"}, "range": "100 m", "mobility": {"model": "static"}}},
)


def answers(package: Path, *asked: dict[str, Any]) -> list[dict[str, float]]:
    """Return the estimated means of scenarios."""
    found: list[dict[str, float]] = json.loads(run_python(package, "-c", ESTIMATE, json.dumps(asked)))
    return found


def over(protocol: str) -> list[dict[str, Any]]:
    return [{**BRIEF, **network, "transport": {"protocol": protocol}} for network in NETWORKS]


def linux(control: str) -> dict[str, str]:
    return {"protocol": "linux", "congestion_control": control}


def beside(protocol: str, other: str, **fields: str) -> list[dict[str, Any]]:
    """Return networks with a flow of each protocol."""
    mine: dict[str, Any] = {"protocol": protocol, **fields}
    ends = {"source": 0, "sink": "gateway"}
    shared = {"dumbbell": HOP, "flows": [mine, {"protocol": other}]}
    wireless = {"cell": {"stations": 1}, "flows": [{**ends, **mine}, {**ends, "protocol": other}]}
    return [
        {**BRIEF, "shared": shared, "transport": {"protocol": "newreno"}},
        {**BRIEF, "wireless": wireless, "transport": {"protocol": "newreno"}},
    ]


@pytest.mark.full
def test_a_tcp_variant(tmp_path: Path) -> None:
    """A variant of NewReno that begins with three packets after a timeout."""
    variant = '''
from netcarlo.kernels.tcp import newreno, reno
from netcarlo.kernels.tcp.state import Window

BASE = newreno


def on_timeout(row, clock, snd_max, window):
    after = reno.on_timeout(row, clock, snd_max, window)
    return Window(3.0, after.ssthresh, after.dupacks)
'''
    package = build(
        tmp_path,
        files={"kernels/tcp/brisk.py": variant},
        lines={"kernels/senders.py": {SENDERS: '    Sender("brisk", "ns2", "brisk", "aimd", 15),'}},
    )
    lossy = {"hops": [{**HOP, "loss": "15 %"}]}
    both = [{**lossy, "transport": {"protocol": p}} for p in ("newreno", "brisk")]
    newreno, brisk, *others = answers(package, *both, *over("brisk"))
    assert brisk["timeouts"] > 0 and brisk["goodput_bps"] > newreno["goodput_bps"]
    assert all(found["goodput_bps"] > 0 for found in others)


@pytest.mark.full
def test_a_congestion_control(tmp_path: Path) -> None:
    """A congestion control that reduces the window by an eighth (Scalable TCP)."""
    control = '''
def grow(cwnd, ssthresh, now, rtt, constants, memory):
    return cwnd + 1.0 if cwnd < ssthresh else cwnd + 0.02


def reduce(window, timeout, now, rtt, constants, memory):
    return window * 0.875
'''
    line = '    Sender("scalable", "ns2", "sack", "scalable", 15, sack=True),'
    package = build(
        tmp_path,
        files={"kernels/congestion/scalable.py": control},
        lines={"kernels/senders.py": {SENDERS: line}},
    )
    asked = [{**PATH, "transport": {"protocol": p}} for p in ("sack", "scalable")]
    sack, scalable, *others = answers(package, *asked, *over("scalable"), *beside("scalable", "cubic"))
    assert scalable["mean_cwnd_packets"] > sack["mean_cwnd_packets"]
    assert all(found["goodput_bps"] > 0 for found in others)
    shared, wireless = others[-2:]
    assert min(found[f"{p}_bps"] for found in (shared, wireless) for p in ("scalable", "cubic")) > 0


@pytest.mark.full
def test_a_congestion_control_of_linux(tmp_path: Path) -> None:
    """A variant of Reno that keeps seven eighths of the window after a loss."""
    control = '''
from netcarlo.kernels.linux.reno import acked_per_increase, on_idle_restart, on_rto, pkts_acked, prepare
from netcarlo.kernels.linux.state import Tcp


def ssthresh(s):
    return max(s[Tcp.CWND] * 7 >> 3, 2)
'''
    line = '    Sender("linux_gentle", "linux", "", "gentle", 15, sack=True),'
    package = build(
        tmp_path,
        files={"kernels/linux/gentle.py": control},
        lines={"kernels/senders.py": {SENDERS: line}},
    )
    reno, gentle, *others = answers(
        package, *({**PATH, "transport": linux(control)} for control in ("reno", "gentle")),
        *({**BRIEF, **network, "transport": linux("gentle")} for network in NETWORKS),
        *beside("linux", "cubic", congestion_control="gentle"),
    )  # fmt: skip
    assert gentle["mean_cwnd_packets"] > reno["mean_cwnd_packets"]
    assert all(found["goodput_bps"] > 0 for found in others)
    assert min(found[f"{p}_bps"] for found in others[-2:] for p in ("linux_gentle", "cubic")) > 0


MODULES = "fhmipv6, fmipv6, himipv6, hmipv6, mipv6, s_binding, s_mip"
IMPORT = f"from netcarlo.kernels.path.mobility import {MODULES}"
BRANCH = """    if protocol == ORACLE:
        return oracle.plan(parameters, m, delays, at, k, trigger, back)"""


@pytest.mark.full
def test_a_handover_protocol(tmp_path: Path) -> None:
    """A variant of Mobile IP whose home agent knows the new location as soon as the link is up."""
    protocol = '''
from netcarlo.kernels.base.inline import noinline
from netcarlo.kernels.path.mobility.timeline import Handover


@noinline
def plan(parameters, m, delays, at, k, trigger, back):
    """Make the timeline, see `handovers`."""
    m[at + Handover.RELEASE] = m[at + Handover.UP]
    m[at + Handover.AT_CN] = m[at + Handover.UP]
    return 0
'''
    package = build(
        tmp_path,
        files={"kernels/path/mobility/oracle.py": protocol},
        lines={
            "kernels/base/layout.py": {"HIMIPV6 = 7": "ORACLE = 8"},
            "kernels/path/mobility/handovers.py": {
                "    HIMIPV6,": "    ORACLE,",
                IMPORT: "from netcarlo.kernels.path.mobility import oracle",
                "        return himipv6.plan(parameters, m, delays, at, k, trigger, back)": BRANCH,
            },
            "networks/path/mobility.py": {'    "himipv6": layout.HIMIPV6,': '    "oracle": layout.ORACLE,'},
        },
    )  # fmt: skip
    udp = {"protocol": "udp", "rate": "500 kbit/s"}
    asked = [
        {**PATH, "transport": udp, "mobility": {"protocol": name, "times": ["1 s"], "outage": "100 ms"}}
        for name in ("mipv6", "oracle")
    ]
    mipv6, oracle = answers(package, *asked)
    assert 0 < oracle["lost_in_handover"] < mipv6["lost_in_handover"]


STUDY = """
title: One link
source: made up
question: How much of one link is used?
replications: 4
seed: 1
scenario: link.yaml
conditions:
  loss:
    label: Loss
    unit: "%"
    set: {paths.0.hops.0.loss: "{} %"}
metrics: {goodput_kbps: payload delivered in order}
tables:
  - {table: "1", title: Goodput, metrics: [goodput_kbps], rows: [loss], columns: []}
tolerance:
  - {metric: goodput_kbps, rel_error: 0.2}
"""
LINK = """
duration: 3 s
transport: {protocol: udp, rate: 1 Mbit/s}
hops:
  - {rate: 2 Mbit/s, delay: 10 ms, loss: 1 %}
"""
PUBLISHED = """loss,metric,unit,published,step,kind
0,goodput_kbps,kbit/s,1000,1,printed
10,goodput_kbps,kbit/s,900,1,printed
"""
CLAIMS = '''
"""Metrics and claims of the made-up study."""

from netcarlo.kernels.base.layout import Out

METRICS = {"goodput_kbps": lambda cell: cell.out(Out.DELIVERED) * 1470 * 8 / 3 / 1000}


def summaries(cells):
    return {}


def claims(cells):
    return []
'''
REPRODUCE = """
import json
from netcarlo import reproduce
[found] = reproduce(["one_link"], target="cpu")
print(json.dumps([found.passed, len(found.rows)]))
"""


@pytest.mark.full
def test_a_study(tmp_path: Path) -> None:
    where = "configs/studies/one_link"
    files = {"study.yaml": STUDY, "link.yaml": LINK, "published.csv": PUBLISHED}
    package = build(
        tmp_path,
        files={
            **{f"{where}/{name}": text for name, text in files.items()},
            "studies/one_link/__init__.py": "",
            "studies/one_link/claims.py": CLAIMS,
        },
        lines={},
    )
    assert json.loads(run_python(package, "-c", REPRODUCE)) == [True, 2]


OUTCOME = """\
    Outcome(
        "received_per_acked", lambda out: out[Out.RECEIVED] / divisors(out[Out.ACKED]), LESS,
        "data packets that arrived per acknowledged one", when=PathOutput.answers, fluid=False,
    ),"""
COUNT = """\
    Outcome(
        "acks_sent", FlowOut.ACKS_SENT, NEITHER, "acknowledgements that receivers sent",
        by=(By("flows", FlowOut.ACKS_SENT),),
    ),"""
ASK = """
import json, sys
from netcarlo import Scenario
from netcarlo.simulation import measurable
from netcarlo.simulation.ensemble import build
sys.path.append(sys.argv[2])
from tests.reference.outcomes import outcomes_page
scenarios = [Scenario.check(data) for data in json.loads(sys.argv[1])]
print(json.dumps({
    "measured": [measurable.outcomes(scenario) for scenario in scenarios],
    "page": outcomes_page(),
}))
"""


@pytest.mark.full
def test_an_outcome(tmp_path: Path) -> None:
    """One declaration adds an outcome: it is estimated, measurable, available by flow, and in the
    reference."""
    timeouts = (
        '        "timeouts", Out.TIMEOUTS, LESS, "retransmission timeouts of data",\n'
        "        cause=acknowledgements,\n    ),"
    )
    package = build(
        tmp_path,
        files={},
        lines={
            "networks/path/outcomes.py": {timeouts: OUTCOME},
            "networks/shared/outcomes.py": {"    *completions.OUTCOMES,": COUNT},
        },
    )
    brief = {"duration": "1 s", "replications": 2}
    tcp, udp = {"protocol": "newreno"}, {"protocol": "udp", "rate": "1 Mbit/s"}
    path = {**brief, **PATH, "transport": tcp}
    shared = {**brief, "shared": {"dumbbell": HOP, "flows": [{"count": 2}]}, "transport": tcp}
    of_path, of_shared = answers(package, path, shared)
    assert of_path["received_per_acked"] > 0
    assert of_shared["acks_sent"] > 0 and "received_per_acked" not in of_shared
    asked = [path, {**path, "fidelity": "fluid"}, {**path, "transport": udp}, shared]
    found = json.loads(run_python(package, "-c", ASK, json.dumps(asked), str(Path(__file__).parents[1])))
    assert ["received_per_acked" in names for names in found["measured"]] == [True, False, False, False]
    assert ["acks_sent" in names for names in found["measured"]] == [False, False, False, True]
    line = "| `received_per_acked` | number | less | data packets that arrived per acknowledged one |"
    assert line in found["page"] and "acknowledgements that receivers sent |" in found["page"]


@pytest.mark.parametrize(
    "what", ["congestion control", "TCP variant", "handover protocol", "study", "network", "outcome"]
)
def test_each_recipe_is_written_down(what: str) -> None:
    page = (Path(__file__).parents[1] / "docs" / "reference" / "adding.md").read_text()
    assert re.search(rf"\*\*An? {what}\.\*\*", page)
