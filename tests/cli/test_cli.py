import errno
import json
import os
import re
import shutil
import subprocess
import sys
import time
import warnings
from pathlib import Path

import pandas as pd
import pytest
from typer.testing import CliRunner

from netcarlo import estimate, load_scenario
from netcarlo.cli import console
from netcarlo.cli.main import app
from netcarlo.schema.notes import Note
from tests.networks.references import LOSSY

SCENARIO = """\
duration: 3 s
replications: 6
transport: {protocol: newreno, window: 10}
hops: [{rate: 1 Mbit/s, delay: 10 ms, loss: 1 %}]
"""


@pytest.fixture
def scenario(tmp_path):
    path = tmp_path / "own.yaml"
    path.write_text(SCENARIO)
    return path


def run(*args):
    return CliRunner().invoke(app, [str(arg) for arg in args])


def test_estimate_prints_a_table_or_json(scenario):
    table = run("estimate", scenario)
    assert table.exit_code == 0
    row = estimate(scenario, target="cpu").table.loc["goodput_bps"]
    shown = re.search(r"goodput_bps +(\S+) kbit/s +(\S+) to (\S+)", table.stdout)
    for text, name in zip(shown.groups(), ("mean", "ci_low", "ci_high"), strict=True):
        assert float(text) == pytest.approx(row[name] / 1e3, rel=1e-3)
    found = run(
        "estimate", scenario, "--json", "--set", "transport.window=5 packets", "--goal", "delivered > 10"
    )
    data = json.loads(found.stdout)
    assert data["outcomes"]["goodput_bps"]["n"] == 6
    assert data["outcomes"]["completion_s"]["mean"] is None
    assert data["goals"]["delivered > 10"]["probability"] == 1.0
    assert data["provenance"]["scenario"]["transport"]["window"] == 5
    assert run("estimate", scenario, "--quiet").stdout == ""


def test_an_unmet_precision_is_exit_1(scenario):
    found = run("estimate", scenario, "--precision", "0.1%", "--replications", 20)
    assert found.exit_code == 1
    assert "precision 0.1% not reached" in found.stderr


def test_validate_writes_its_rows(tmp_path):
    reference, out = tmp_path / "ns2_lossy.csv", tmp_path / "new" / "rows.csv"
    reference.write_text(LOSSY)
    found = run("validate", reference, "--out", out, "--json")
    assert found.exit_code == 0
    classes = json.loads(found.stdout)["classes"]
    assert {"metric", "class", "median", "p90", "worst", "bias", "z_rms"} <= set(classes[0])
    rows = pd.read_csv(out)
    assert list(rows.columns)[:4] == ["id", "class", "metric", "reference"]
    assert len(rows) == 16
    assert "Sack1, varies by seed" in run("validate", reference).stdout


def test_trace_writes_a_table_and_a_page(scenario, tmp_path):
    found = run("trace", scenario, "--replication", 2, "--out", tmp_path / "t")
    assert found.exit_code == 0, found.output
    table = pd.read_csv(tmp_path / "t" / "trace.csv")
    assert {"time_s", "event", "sequence", "cwnd_packets", "ssthresh_packets", "rto_s"} <= set(table)
    assert "<html" in (tmp_path / "t" / "trace.html").read_text()


def test_devices_lists_the_cpu():
    assert "cpu" in run("devices").stdout
    assert json.loads(run("devices", "--json").stdout)[0]["target"] == "cpu"


BAD = [
    (["estimate", "none.yaml"], "none.yaml: no such file"),
    (["estimate", "own.yaml", "--set", "hops.0.delay=5 Mbit/s"], "own.yaml: .* wrong unit"),
    (["estimate", "own.yaml", "--set", "hops.0.delay=-5 ms"], "own.yaml: .* below the limit"),
    (["estimate", "own.yaml", "--set", "transport.protocol=cubik"], "own.yaml: .* unknown protocol"),
    (["estimate", "own.yaml", "--set", "transport.window=5000"], "own.yaml: .* above the limit; .* 4096"),
    (["estimate", "own.yaml", "--set", "transport.window"], "write it as a.b=value"),
    (["estimate", "own.yaml", "--set", "transport.window=[1"], "is not a YAML value"),
    (["estimate", "own.yaml", "--target", "gpu"], "target = 'gpu' is unknown"),
    (["estimate", "own.yaml", "--goal", "speed > 1"], "'speed' is not an outcome"),
    (["validate", "near/ns2_lossy.csv"], "column 'timeouts' .* is missing"),
    (["validate", "ns2_lossy.csv", "--mapping", "mine"], "mapping 'mine' is unknown"),
    (["validate", "good/ns2_lossy.csv", "--out", "own.yaml/rows.csv"], "own.yaml is a file"),
    (["trace", "own.yaml", "--out", "own.yaml"], "own.yaml is a file"),
    (["reproduce", "nothing"], "nothing"),
    (["reproduce", "sctp_linkdown", "--replications", "2000000000"], "years on one core; .* --yes"),
    (["reproduce", "--out", "own.yaml/reports"], "own.yaml is a file"),
]


def test_all_missing_columns_of_a_reference_are_listed(tmp_path):
    reference = tmp_path / "ns2_lossy.csv"
    reference.write_text("id,tcp\n1,Reno\n")
    found = run("validate", reference)
    assert (found.exit_code, found.stdout) == (2, "")
    said = "columns 'goodput_Bps', .* and 'mean_rtt_s' .* are missing; known: id, tcp"
    assert re.search(said, found.stderr)


@pytest.mark.parametrize(("args", "complaint"), BAD, ids=[" ".join(args) for args, _ in BAD])
def test_bad_input_is_one_line_exit_2_and_no_output(scenario, tmp_path, monkeypatch, args, complaint):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ns2_lossy.csv").write_text("id,tcp\n1,Reno\n")
    (tmp_path / "good").mkdir()
    (tmp_path / "good" / "ns2_lossy.csv").write_text(LOSSY)
    (tmp_path / "near").mkdir()
    (tmp_path / "near" / "ns2_lossy.csv").write_text(LOSSY.replace("timeouts_mean", "rto_mean"))
    before = sorted(tmp_path.rglob("*"))
    found = run(*args)
    assert found.exit_code == 2
    assert found.stdout == ""
    lines = found.stderr.splitlines()
    assert len(lines) == 1, found.stderr
    assert lines[0].startswith("error: ")
    assert re.search(complaint, lines[0]), lines[0]
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.skipif(os.name != "posix", reason="needs folder permissions: run on Linux or macOS")
def test_a_read_only_folder_is_refused_before_any_work(scenario, tmp_path):
    folder = tmp_path / "closed"
    folder.mkdir()
    closed = "/proc/self" if os.geteuid() == 0 else str(folder)  # root may write anywhere else
    folder.chmod(0o500)
    try:
        found = run("trace", scenario, "--out", f"{closed}/new")
    finally:
        folder.chmod(0o700)
    assert found.exit_code == 2
    assert "cannot be written" in found.stderr
    assert list(folder.iterdir()) == []


ENDLESS = """\
name: endless
duration: 864000 s
replications: 2
transport: {protocol: newreno, window: 4096, payload: 1 B}
hops: [{rate: 1 Tbit/s, delay: 1 us}]
"""


INTERRUPTED = """\
import os, signal, sys, threading, time
from netcarlo.cli.main import main
from netcarlo.kernels import models
from netcarlo.kernels.runtime import compile as compilers
compilers.cpu_loop(models.model("tcp_newreno"))

def interrupt():
    while not any(thread.name == "netcarlo" for thread in threading.enumerate()):
        time.sleep(0.05)
    time.sleep(0.5)
    os.kill(os.getpid(), signal.SIGINT)

threading.Thread(target=interrupt, daemon=True).start()
sys.argv = ["netcarlo", *sys.argv[1:]]
main()
"""


@pytest.mark.full
@pytest.mark.skipif(os.name != "posix", reason="needs POSIX signals: run on Linux or macOS")
@pytest.mark.parametrize("command", ["estimate endless.yaml", "trace endless.yaml", "estimate many.yaml"])
def test_an_interrupt_ends_at_once_and_without_a_traceback(command, tmp_path):
    """Ctrl-C ends a run also in a kernel, although Python handles signals only between its own steps."""
    (tmp_path / "endless.yaml").write_text(ENDLESS)
    (tmp_path / "many.yaml").write_text(SCENARIO.replace("replications: 6", "replications: 2000000"))
    before = sorted(tmp_path.iterdir())
    arguments = [sys.executable, "-c", INTERRUPTED, *command.split(), "--yes"]
    found = subprocess.run(arguments, capture_output=True, text=True, cwd=tmp_path, timeout=120, check=False)
    assert (found.returncode, found.stdout) == (130, ""), found.stderr
    assert found.stderr.endswith("interrupted\n") and "Traceback" not in found.stderr
    assert sorted(tmp_path.iterdir()) == before


KINDS = {
    "scenario.yaml": "this is a scenario, not %s; run netcarlo estimate scenario.yaml",
    "sweep.yaml": "this is a sweep, not %s; run netcarlo sweep sweep.yaml --out STORE",
    "plan.yaml": "this is a plan, not %s; run netcarlo plan plan.yaml",
    "mapping.yaml": "this is a mapping, not %s; run netcarlo validate REFERENCE.csv --mapping mapping.yaml",
    "reference.csv": "this is a reference, not %s; run netcarlo validate reference.csv",
    "control.py": "this is a congestion control, not %s; name it in a scenario",
    "report.html": "this is a report, not %s; open it in a browser",
    "store": "this is a store, not %s; run netcarlo status store",
}
TAKES = {
    "estimate": "a scenario", "trace": "a scenario", "sweep": "a sweep", "plan": "a plan",
    "validate": "a reference", "status": "a store", "report": "a store", "export --to csv": "a store",
    "query": "a store", "rerun": "a store", "sensitivity": "a store",
}  # fmt: skip


@pytest.mark.full
def test_a_file_of_another_kind_is_named_with_its_command(tmp_path, monkeypatch):
    configs = Path(__file__).parents[2] / "configs"
    monkeypatch.chdir(tmp_path)
    shutil.copy(configs / "examples" / "lossy_hop.yaml", "scenario.yaml")
    shutil.copy(configs / "buffer_planning.yaml", "sweep.yaml")
    shutil.copy(configs / "plans" / "satellite_buffer.yaml", "plan.yaml")
    shutil.copy(configs / "references" / "ns2_lossy.yaml", "mapping.yaml")
    shutil.copy(configs / "examples" / "aimd.py", "control.py")
    for name in ("reference.csv", "report.html"):
        Path(name).write_text("a,b\n")
    Path("store").mkdir()
    Path("store/manifest.json").write_text("{}")
    for command, takes in TAKES.items():
        last = {"query": ["SELECT 1"], "rerun": ["abc"]}.get(command, [])
        for name, complaint in KINDS.items():
            if takes[2:] not in name:
                found = run(*command.split(), name, *last)
                assert (found.exit_code, found.stderr.count("\n")) == (2, 1), (command, name, found.output)
                assert complaint % takes in found.stderr, (command, name)


def test_a_probability_without_a_unit_is_noted(tmp_path):
    (tmp_path / "bare.yaml").write_text(
        "transport: {protocol: sack}\nduration: 1 s\n"
        "hops: [{rate: 1 Mbit/s, delay: 1 ms, loss: 0.1, ack_loss: {choice: [0, 0.5]}}]\n"
    )
    words = r"hops\.0\.loss = 0\.1 has no unit and is read as 10 %; write 10 %$"
    with pytest.warns(Note, match=words), pytest.warns(Note, match=r"ack_loss\.choice\.1 = 0\.5 .* 50 %$"):
        load_scenario(tmp_path / "bare.yaml")
    with pytest.warns(Note, match=r"--set: hops\.0\.loss = 1 .* read as 100 %"):
        console.values(["hops.0.loss=1"])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for path in sorted((Path(__file__).parents[2] / "configs" / "examples").glob("*.yaml")):
            load_scenario(path)


@pytest.fixture
def full(monkeypatch):
    """Simulate a full disk."""

    def write(*_, **__):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("pathlib.Path.write_text", write)


def test_a_full_disk_is_no_bad_input(scenario, full):
    found = run("trace", scenario, "--out", scenario.parent / "new")
    assert found.exit_code == 3
    line = found.stderr.splitlines()[-1]  # a model may have been compiled before
    assert "Traceback" not in found.stderr
    assert "trace.csv: cannot be written (No space left on device); make room and run it again" in line


def test_too_little_memory_is_no_bad_input(scenario, monkeypatch):
    def load(*_, **__):
        raise MemoryError

    monkeypatch.setattr("netcarlo.load_scenario", load)
    found = run("estimate", scenario)
    assert (found.exit_code, len(found.stderr.splitlines())) == (3, 1)
    assert found.stderr.startswith("error: not enough memory; ")


def test_no_number_of_a_table_is_cut(capsys):
    frame = pd.DataFrame([[123456789.0] * 9], index=["completion_p95_s"], columns=list("abcdefghi"))
    console.print_table("wider than 80 characters", frame)
    assert capsys.readouterr().out.count("123456789") == 9


@pytest.mark.full
def test_names_steer_no_terminal(tmp_path, monkeypatch, capsys):
    name = "\x1b]0;owned\x07 [/b] [link=x]y\u202e"
    frame = pd.DataFrame({"[bold]m": [1.0]}, index=pd.Index([name], name="\x1b[2J"))
    console.print_table(name, frame)
    console.say(name)
    console.echo(name)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    with console.progress(name, quiet=False) as update:
        time.sleep(1.2)
        update(1, 2)
    shown = "".join(capsys.readouterr())
    assert "\x1b]0" not in shown and "\x07" not in shown and "\x1b[2J" not in shown and "\u202e" not in shown
    assert shown.count(r"\x1b]0;owned\x07 [/b] [link=x]y\u202e") >= 5
    assert "[bold]m" in shown
    assert console.plain("2\u202f000\nruns") == "2\u202f000\nruns"  # a narrow no-break space
    bad = tmp_path / "bad.yaml"
    bad.write_text('"\\e[1mx": 1\n')
    found = run("estimate", bad)
    assert found.exit_code == 2 and r"\x1b[1mx" in found.stderr and "\x1b" not in found.stderr


def test_a_suggested_command_is_quoted(tmp_path):
    (tmp_path / "own.yaml").write_text(
        "name: x; touch owned\nscenario: {duration: 1 s, transport: {protocol: newreno}, "
        "hops: [{rate: 1 Mbit/s, delay: 1 ms}]}\naxes: {hops.0.loss: [0, 1 %]}\n"
    )
    assert run("sweep", tmp_path / "own.yaml").stderr.endswith("--out 'x; touch owned'\n")
