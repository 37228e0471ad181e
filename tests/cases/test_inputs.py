"""Input files: only regular files are read, with cells of any length, and only beside the file that names
them unless the user trusts others."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

import netcarlo
from netcarlo import InputError, Scenario, load_scenario
from netcarlo.cli.main import app
from netcarlo.comparison import reproduced
from netcarlo.planning import load_plan
from netcarlo.schema import document, trusted
from netcarlo.sweeps.space.file import load_sweep

HEAD = "duration: 1 s\nreplications: 2\ntransport: {protocol: newreno, window: 10}\n"
TRACE = HEAD + "hops: [{trace: %s, repeat: true, delay: 1 ms, queue: 20}]\n"
EMPIRICAL = HEAD + "hops: [{rate: 1 Mbit/s, delay: {empirical: %s}, queue: 20}]\n"
SECRET = "root:$6$secret\n"
STEPS = "time,rate\n0 s,1 Mbit/s\n1 s\n"
PLAN = "quantity: {field: transport.window, values: [1, 2]}\n" \
    "requirements: {fast: {goal: goodput_bps > 1 bit/s, probability: 0.5}}\n"  # fmt: skip


@pytest.fixture(autouse=True)
def nothing_trusted(monkeypatch):
    monkeypatch.setattr(trusted, "contents", set())
    monkeypatch.setattr("netcarlo.transport.congestion._trusted", trusted.contents)


@pytest.fixture
def home(tmp_path, monkeypatch):
    """Make a folder with a stranger's files, below a folder with a secret."""
    (tmp_path / "secret").write_text(SECRET)
    (tmp_path / "good.csv").write_text(STEPS)
    (tmp_path / "home").mkdir()
    monkeypatch.chdir(tmp_path / "home")
    return tmp_path / "home"


def run(*args):
    return CliRunner().invoke(app, [str(arg) for arg in args])


def refused(found, *words):
    assert found.exit_code == 2, found.output
    assert found.stderr.count("\n") == 1 and "Traceback" not in found.stderr
    for word in words:
        assert word in found.stderr, found.stderr


def written(home, text, name="file.yaml"):
    (home / name).write_text(text)
    return home / name


@pytest.mark.parametrize("text", [TRACE, EMPIRICAL], ids=["trace", "empirical"])
@pytest.mark.parametrize(
    "name", ["../secret", "link", "{up}/secret", "/proc/self/environ", "below/../../secret"]
)
def test_a_stranger_reads_no_file_outside_of_the_folder(home, text, name):
    (home / "link").symlink_to("../secret")
    (home / "below").mkdir()
    file = written(home, text % name.format(up=home.parent))
    refused(run("estimate", file), "file.yaml:4: ", "is outside the folder", "--trust")
    assert "secret\n" not in run("estimate", file).stderr and "$6$" not in run("estimate", file).stderr
    scenario = text.replace("\n", "\n  ") % name.format(up=home.parent)
    with pytest.raises(InputError, match="is outside the folder"):
        load_sweep(written(home, f"scenario:\n  {scenario}\naxes: {{transport.window: [2, 4]}}\n", "s.yaml"))
    with pytest.raises(InputError, match="is outside the folder"):
        load_plan(written(home, f"scenario:\n  {scenario}\n{PLAN}", "p.yaml"))
    data = document.read_yaml(file).data
    with pytest.raises(InputError, match="is outside the folder"):
        Scenario.check(data)


@pytest.mark.parametrize("axis", [
    "hops.0.trace: [own.csv, ../good.csv]",
    "line: {field: hops.0.trace, values: [own.csv, ../good.csv]}",
    "line: {zip: {hops.0.trace: [own.csv, ../good.csv], hops.0.delay: [1 ms, 2 ms]}}",
    "line: {cases: {one: {hops.0.trace: own.csv}, two: {hops.0.trace: ../good.csv}}}",
])  # fmt: skip
def test_axes_over_traces_follow_the_rule(home, axis, monkeypatch):
    written(home, STEPS, "own.csv")
    written(home, TRACE % "own.csv", "scenario.yaml")
    text = f"scenario: scenario.yaml\naxes:\n  {axis}\n"
    with pytest.raises(InputError, match=r"file\.yaml:3: .*good\.csv: is outside the folder"):
        load_sweep(written(home, text))
    netcarlo.trust(home.parent / "good.csv")
    load_sweep(written(home, text))
    monkeypatch.chdir("/")  # files are looked up beside the sweep
    sweep = load_sweep(written(home, text.replace("../good", "own2")), values={}) if (
        written(home, STEPS, "own2.csv")
    ) else None
    assert sweep is not None and sweep.n_cells == 2
    assert "own.csv" not in str(sweep.definition["scenario"])


def test_scenarios_of_sweeps_and_plans_follow_the_rule(home):
    written(home.parent, TRACE % "good.csv", "outside.yaml")
    for text, load in (
        ("scenario: ../outside.yaml\naxes: {transport.window: [2, 4]}\n", load_sweep),
        (f"scenario: ../outside.yaml\n{PLAN}", load_plan),
    ):
        file = written(home, text)
        with pytest.raises(InputError, match="is outside the folder"):
            load(file)
        netcarlo.trust(home.parent / "outside.yaml")
        load(file)
        trusted.contents.clear()


@pytest.mark.full
def test_trust_is_in_a_content(home):
    file, good = written(home, TRACE % "../good.csv"), home.parent / "good.csv"
    found = run("estimate", file, "--json", "--trust", good)
    assert found.exit_code == 0, found.output
    trusted.contents.clear()
    netcarlo.trust(trusted.sha256(good.read_bytes()))
    load_scenario(file)
    good.write_text(STEPS.replace("1 Mbit", "2 Mbit"))
    with pytest.raises(InputError, match="is outside"):
        load_scenario(file)


@pytest.mark.full
def test_the_suggested_trust_is_accepted(home):
    file = written(home, TRACE % "'../with space.csv'")
    (home.parent / "with space.csv").write_text(STEPS)
    message = run("estimate", file).stderr
    remedy = message.partition("add --trust '")[2].partition("'")[0]
    assert run("estimate", file, "--trust", remedy, "-q").exit_code == 0, message


@pytest.mark.full
@pytest.mark.parametrize("kind", ["pipe", "folder", "loop", "device"])
def test_what_is_no_regular_file_is_refused_at_once(home, kind):
    """A separate process is used, because a regression would wait for ever."""
    odd = home / "odd"
    if kind == "pipe":
        os.mkfifo(odd)
    elif kind == "folder":
        odd.mkdir()
    elif kind == "loop":
        odd.symlink_to("odd")
    else:
        odd.symlink_to("/dev/zero")
    written(home, TRACE % "odd", "trace.yaml")
    written(home, EMPIRICAL % "odd", "empirical.yaml")
    written(home, "scenario: odd\naxes: {transport.window: [2, 4]}\n", "sweep.yaml")
    written(home, f"scenario: odd\n{PLAN}", "plan.yaml")
    written(home, "id,x\n1,2\n", "reference.csv")
    program = """
import sys, typer.testing, netcarlo.cli.main as main
for line in sys.stdin.read().splitlines():
    found = typer.testing.CliRunner().invoke(main.app, line.split())
    print(found.exit_code, found.stderr.count(chr(10)), line, found.stderr, end="")
"""
    commands = [
        "estimate odd", "estimate trace.yaml", "estimate empirical.yaml", "sweep sweep.yaml --out new",
        "sweep odd --out new", "plan plan.yaml", "plan odd", "compare odd trace.yaml", "validate odd",
        "validate reference.csv --mapping odd", "trace odd", "status odd", "report odd", "live odd",
        "estimate trace.yaml --trust odd",
    ]  # fmt: skip
    found = subprocess.run(
        [sys.executable, "-c", program], input="\n".join(commands), capture_output=True, text=True, timeout=60
    )
    lines = found.stdout.splitlines()
    assert [line[:3] for line in lines] == ["2 1"] * len(commands), found.stdout + found.stderr


def test_stores_and_folders_of_results_with_pipes_are_refused(home):
    (home / "store").mkdir()
    os.mkfifo(home / "store" / "manifest.json")
    refused(run("status", "store"), "not a regular file")
    for name in ("comparison.csv", "claims.csv", "provenance.json"):
        folder = home / f"study-{name}"
        folder.mkdir()
        for each in ("comparison.csv", "claims.csv", "provenance.json"):
            written(folder, "claim,verdict,metric\n", each)
        (folder / name).unlink()
        os.mkfifo(folder / name)
        with pytest.raises(InputError, match="not a regular file"):
            reproduced.of_folder("study", folder)
    (home / "plan").mkdir()
    os.mkfifo(home / "plan" / "runs.jsonl")
    written(home, HEAD + "hops: [{rate: 1 Mbit/s, delay: 1 ms}]\n", "scenario.yaml")
    refused(run("plan", written(home, f"scenario: scenario.yaml\n{PLAN}"), "--out", "plan"), "pipe")


def test_the_limit_of_sizes(home, monkeypatch):
    monkeypatch.setattr(document.read_bytes, "__defaults__", (1 << 20,))
    written(home, "time,rate\n" + "#" * (1 << 20), "big.csv")
    refused(run("estimate", written(home, TRACE % "big.csv")), "is larger than 1 MiB, the maximum")


@pytest.mark.parametrize("text", [TRACE, EMPIRICAL], ids=["trace", "empirical"])
def test_cells_may_have_any_length(home, text):
    written(home, "time,rate,value\n0 s," + "1" * 200_000 + "\n1 s\n", "long.csv")
    refused(run("estimate", written(home, text % "long.csv")), "file.yaml:4")
    assert len(run("estimate", "file.yaml").stderr) < 500
    written(home, "value,cumulative\n" + " " * 200_000 + "10 ms,1\n", "wide.csv")
    load_scenario(written(home, EMPIRICAL % "wide.csv"))
    written(home, "id,x\n1," + "y" * 200_000 + "\n", "reference.csv")
    written(home, HEAD + "hops: [{rate: 1 Mbit/s, delay: 1 ms}]\n", "scenario.yaml")
    refused(run("validate", "reference.csv", "--mapping", "scenario.yaml"), "not a mapping")


def test_a_byte_order_mark_is_no_part_of_a_file(home):
    written(home, "\ufeff" + STEPS, "own.csv")
    load_scenario(written(home, "\ufeff" + TRACE % "own.csv"))


FULL = "standard output cannot be written (No space left on device); make room and run it again"


@pytest.mark.full
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full: run on Linux")
@pytest.mark.parametrize(
    "command", ["--version", "--help", "schema scenario", "estimate own.yaml", "estimate own.yaml --json"]
)
def test_a_full_standard_output_is_one_line(home, command):
    written(home, HEAD + "hops: [{rate: 1 Mbit/s, delay: 1 ms, loss: 1 %}]\n", "own.yaml")
    with open("/dev/full", "w") as full:
        found = subprocess.run(
            [sys.executable, "-m", "netcarlo", *command.split()],
            stdout=full, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
    assert (found.returncode, found.stderr) == (3, f"error: {FULL}\n")


@pytest.mark.full
@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8"])
def test_a_standard_output_of_few_characters_is_transliterated(home, encoding):
    written(home, 'name: "Größe ≤ 5 µs 日"\n' + HEAD + "hops: [{rate: 1 Mbit/s, delay: 10 ms, loss: 1 %}]\n")
    found = subprocess.run(
        [sys.executable, "-m", "netcarlo", "compare", "file.yaml", "file.yaml"], capture_output=True,
        env={**os.environ, "PYTHONIOENCODING": encoding, "LC_ALL": "C", "COLUMNS": "200"},
    )  # fmt: skip
    assert (found.returncode, found.stderr) == (0, b"")
    name = {
        "ascii": "Grosse <= 5 us \\u65e5", "latin-1": "Größe <= 5 µs \\u65e5", "utf-8": "Größe ≤ 5 µs 日"
    }[encoding]  # fmt: skip
    assert f"{name} (A)" in found.stdout.decode(encoding)
