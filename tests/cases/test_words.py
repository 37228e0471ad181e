"""Messages: no guesses by spelling, every fault of a file, the option that set a field, remedies that
work.
"""

import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from netcarlo import InputError, Scenario, configs, load_scenario
from netcarlo.cli.main import app
from netcarlo.errors import suggest
from netcarlo.networks import traces
from netcarlo.networks.registry import NETWORKS
from netcarlo.networks.wireless.description import Wireless
from netcarlo.schema import unsupported
from netcarlo.schema.document import read_value
from netcarlo.sweeps.space.file import load_sweep
from netcarlo.transport.capabilities import PROTOCOLS, allowed

WORDS = Path(__file__).with_name("words")
PATH = {
    "duration": "1 s", "replications": 2, "transport": {"protocol": "newreno"},
    "hops": [{"rate": "1 Mbit/s", "delay": "1 ms"}],
}  # fmt: skip
TREE = {
    "duration": "10 s", "transport": {"protocol": "newreno"},
    "shared": {
        "links": [
            {"ends": ends, "rate": "10 Mbit/s", "delay": "1 ms"}
            for ends in ([0, 1], [1, 0], [0, 2], [2, 0], [2, 1], [1, 2])
        ],
        "flows": [{"route": "0", "backup": "2 4"}],
        "failures": [{"cables": 0, "outages": {"up": "20 s", "down": "1 s"}}],
    },
}  # fmt: skip


def run(*args):
    return CliRunner().invoke(app, [str(arg) for arg in args])


def said(data):
    with pytest.raises(InputError) as no:
        Scenario.check(data)
    return str(no.value)


def accepted(remedy, data):
    """Check the scenario with the fields that a remedy, `write a: b, c: d`, names in its transport."""
    fields = dict(part.split(": ", 1) for part in remedy.removeprefix("write ").split(", "))
    return Scenario.check({**data, "transport": {name: read_value(value) for name, value in fields.items()}})


def test_the_cases():
    dctcp = run("estimate", WORDS / "scenario.yaml")
    assert dctcp.exit_code == 2 and "cubic'?" not in dctcp.stderr
    assert "'dctcp' is not supported: DCTCP, TCP Prague and L4S are not simulated" in dctcp.stderr
    assert "Supported with paths: tahoe, " in dctcp.stderr and "linux (CUBIC, BBR), " in dctcp.stderr
    upload = run("estimate", WORDS / "upload.yaml").stderr
    assert "for given routers write source: 1, sink: 0" in upload
    flow = {"source": 1, "sink": 0}
    load_scenario(WORDS / "upload.yaml", values={"shared.flows.1": flow})
    atm = {"shared.dumbbell.overhead": "10 B", "shared.dumbbell.cells": "atm"}
    assert load_scenario(WORDS / "adsl.yaml", values=atm).network.varying_fields == ["dumbbell.overhead"]


@pytest.mark.parametrize("name", sorted(unsupported.PROTOCOLS))
def test_known_protocols_are_never_taken_for_misspellings_and_the_remedy_works(name):
    message = said({**PATH, "transport": {"protocol": name.upper() if len(name) > 6 else name}})
    assert "is not supported: " in message and "did you mean" not in message
    known = unsupported.PROTOCOLS[name]
    assert known.what in message and known.remedy in message
    accepted(known.remedy + (", rate: 1 Mbit/s" if known.write["protocol"] == "udp" else ""), PATH)
    control = (
        said({**PATH, "transport": {"protocol": "linux", "congestion_control": name}})
        if (name not in ("bbr", "bbr3"))
        else ""
    )
    assert not control or known.what in control


def test_no_known_name_is_one_of_ours():
    ours = {*PROTOCOLS, *(name for kind in NETWORKS for name in allowed(kind))}
    assert not ours & unsupported.PROTOCOLS.keys()
    for name in ("http3", "dctcp", "prague"):
        assert suggest(name, ours).startswith("known:")


@pytest.mark.parametrize("name", sorted(unsupported.STANDARDS))
def test_standards_of_wireless(name):
    starter = Path(configs.__file__).parent / "starters" / "wireless.yaml"
    with pytest.raises(InputError) as no:
        load_scenario(starter, values={"wireless.standard": name})
    message = str(no.value)
    assert "is not supported: " in message
    (meant,) = re.findall(r"write standard: (802[.]11[a-z]+)", message)
    Wireless.check({"cell": {"stations": 1}, "standard": meant})


@pytest.mark.parametrize(("written", "meant"), [
    ("cubik", "cubic"), ("newrenoo", "newreno"), ("vegsa", "vegas"), ("scpt", "sctp"), ("linx", "linux"),
])  # fmt: skip
def test_misspellings_are_recognised_and_the_suggestion_is_accepted(written, meant):
    message = said({**PATH, "transport": {"protocol": written}})
    assert f"did you mean '{meant}'?" in message
    Scenario.check({**PATH, "transport": {"protocol": meant}})


@pytest.mark.parametrize(("field", "given"), [
    ("windw", "window"), ("playload", "payload"), ("start_", "start"), ("inital_window", "initial_window"),
])  # fmt: skip
def test_suggested_fields_are_accepted(field, given):
    values = {"window": 10, "payload": "100 B", "start": "0.1 s", "initial_window": 2}
    message = said({**PATH, "transport": {"protocol": "newreno", field: values[given]}})
    assert f"did you mean '{given}'?" in message
    Scenario.check({**PATH, "transport": {"protocol": "newreno", given: values[given]}})


def test_ecn_of_linux():
    message = said({**PATH, "transport": {"protocol": "linux", "ecn": True}})
    assert "ECN is not simulated with linux; write protocol: newreno" in message
    accepted("write protocol: newreno", PATH)


def test_all_faults_of_a_file_are_listed(tmp_path):
    file = tmp_path / "own.yaml"
    file.write_text(
        "duration: 10 s\nreplicatons: 3\ntransport: {protocol: newreno, windw: 5, foo: 1}\n"
        "hops: [{rate: 1 Mbit, delay: 1 Mbit/s, queue: -1}, {rate: 1 Mbit/s}]\n"
    )
    found = run("estimate", file)
    assert found.exit_code == 2 and " more)" not in found.stderr
    lines = found.stderr.splitlines()
    assert all(line.startswith(f"error: {file}:") for line in lines)
    for name in (
        "2: replicatons", "3: transport.windw", "3: transport.foo", "4: hops.0.rate",
        "4: hops.0.delay", "4: hops.0.queue", "4: hops.1.delay is missing",
    ):  # fmt: skip
        assert sum(f":{name}" in line for line in lines) == 1, (name, lines)
    assert len(lines) == 7


def test_options_are_named(tmp_path):
    file = WORDS / "adsl.yaml"
    found = run("estimate", file, "--set", "shared.dumbbell.reverse.loss=2").stderr
    assert found.startswith(f"error: --set shared.dumbbell.reverse.loss=2: {file}: shared.dumbbell")
    found = run("estimate", file, "--set", "nothing=2").stderr
    assert found.startswith(f"error: --set nothing=2: {file}: nothing is an unknown field")
    for name, more in (("plan", "quantity: {field: transport.window, values: [1, 2]}\n"
                        "requirements: {fast: {goal: goodput_bps > 1 bit/s, probability: 0.5}}\n"),
                       ("sweep", "axes: {loss: {field: hops.0.loss, values: [0, 1 %]}}\n")):  # fmt: skip
        file = tmp_path / f"{name}.yaml"
        file.write_text("scenario: {duration: 1 s, transport: {protocol: newreno}, "
                        f"hops: [{{rate: 1 Mbit/s, delay: 1 ms}}]}}\n{more}")  # fmt: skip
        for field, value in (("transport.window", "7"), ("hops.0.delay", "9 ms"), ("duration", "2 s")):
            found = run(name, file, "--set", f"{field}={value}").stderr
            assert f"write --set scenario.{field}={value}" in found, found
            again = run(name, file, "--set", f"scenario.{field}={value}", "--set", "scenario.duration=x")
            assert "--set scenario.duration=x: " in again.stderr, again.stderr


def test_values_of_an_axis_may_be_set_by_their_path(tmp_path):
    file = tmp_path / "sweep.yaml"
    file.write_text(
        "scenario: {duration: 1 s, transport: {protocol: newreno}, hops: [{rate: 1 Mbit/s, delay: 1 ms}]}\n"
        "axes: {loss: {field: hops.0.loss, values: [0, 1 %]}, hops.0.delay: [1 ms, 2 ms]}\n"
    )
    for name, values in (("loss", ["0", "1 %", "2 %"]), ("hops.0.delay", ["1 ms", "2 ms", "3 ms"])):
        found = load_sweep(file, values={f"axes.{name}.values": values})
        assert found.n_cells == 6
        assert found.digest == load_sweep(file, values={f"axes.{name}": values}).digest


def test_shapes_are_named_in_our_words():
    message = said({**PATH, "hops": {"count": 2, "each": {"rate": "1 Mbit/s", "delay": "1 ms"}}})
    assert "is not a list" in message and "here [{count: ..., each: ...}]" in message
    Scenario.check({**PATH, "hops": [{"count": 2, "each": {"rate": "1 Mbit/s", "delay": "1 ms"}}]})
    for data in ({"transport": []}, {"replications": "x"}, {"replications": 1.5}, {"name": 5}, {"live": 3}):
        assert "input should" not in said({**PATH, **data}).lower()


@pytest.mark.full
def test_a_trace_that_is_too_long_says_what_answers_the_same_question():
    every = [ms for ms in range(1, traces.MAX_LINES + 2) for _ in range(1 + ms % 3)]
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
    {"up": "8756 h", "down": "4 h"}, {"up": "1 h", "down": "300 h"}, {"up": "1 h", "down": "5 min per day"},
    "2/month", "99.9 %", {"up": "3 months", "down": "1 h"}, {"up": "1 year", "down": "4 h"},
    {"down": "4 h", "per": "year"}, [{"start": "10 s", "duration": "4 hours per year"}],
])  # fmt: skip
def test_outages_of_years_have_fields_of_their_own(outages):
    message = said({**PATH, "hops": [{**PATH["hops"][0], "outages": outages}]})
    remedies = re.findall(r"\{.*?\}", message.partition("for outages of years write outages: ")[2])
    assert len(remedies) == 3
    for remedy in remedies:
        Scenario.check({**PATH, "hops": [{**PATH["hops"][0], "outages": read_value(remedy)}]})


def test_a_backup_needs_no_detection():
    assert Scenario.check(TREE).shared.flows[0].detection is None  # immediately, as stated in the reference


def test_a_trace_of_one_millisecond_is_a_link_of_that_rate():
    assert traces.trace("1\n").mean("rate") == pytest.approx(12e6)


def test_errors_in_a_data_file_name_the_file(tmp_path):
    (tmp_path / "up.trace").write_text("0\n5\n4\n9\n")
    file = tmp_path / "own.yaml"
    file.write_text(
        "duration: 1 s\ntransport: {protocol: newreno}\n"
        "hops:\n  - {rate: 1 Mbit/s, delay: 1 ms, reverse: {trace: up.trace, repeat: true}}\n"
    )
    found = run("estimate", file)
    where = "4: hops.0.reverse.trace = up.trace has a decreasing time in line 3; sort the lines"
    assert found.exit_code == 2 and found.stderr == f"error: {file}:{where}\n"
    (tmp_path / "up.trace").write_text("0\n4\n5\n9\n")
    load_scenario(file)


def test_json_of_others_is_no_result(tmp_path):
    file = tmp_path / "other.json"
    file.write_text('{"end": {"sum_received": 1}}')
    found = run("estimate", file)
    assert found.exit_code == 2 and "netcarlo reads only JSON that its own commands write" in found.stderr
    assert "compare" not in found.stderr
    file.write_text('{"outcomes": {}}')
    assert f"netcarlo compare {file} OTHER" in run("estimate", file).stderr
