"""Output files: commands replace only regular files, and check all of them before they work."""

import ast
import os
import stat
import subprocess
import sys
import threading
import time
import typing
from pathlib import Path

import pytest
from typer.testing import CliRunner

from netcarlo import InputError, report
from netcarlo.cli.main import app
from netcarlo.errors import MachineError
from netcarlo.schema import destination
from netcarlo.sweeps.store.files import Files

ROOT = Path(__file__).parents[2]
SCENARIO = """\
duration: 1 s
replications: 2
transport: {protocol: newreno, window: 10}
hops: [{rate: 1 Mbit/s, delay: 10 ms, queue: 20}]
"""
MEASURED = ROOT / "tests" / "measurements" / "data" / "iperf3_tcp.json"
PLAN = """\
scenario: scenario.yaml
quantity: {name: window, field: transport.window, values: [2, 4]}
find: smallest
requirements: {fast: {goal: goodput_bps >= 100 kbit/s, probability: 50 %}}
confidence: 80 %
"""
FILES = {
    "export": ["export", "store", "--to", "csv", "--out"],
    "rerun": ["rerun", "store", "KEY", "--out"],
    "report": ["report", "store", "--out"],
    "new": ["new", "path", "--out"],
}
"""Commands that write one file."""
FOLDERS = {
    "estimate": (["estimate", "scenario.yaml", "--out"], ["estimate.html", "outcomes.csv"]),
    "trace": (["trace", "scenario.yaml", "--out"], ["trace.csv", "trace.html"]),
    "plan": (["plan", "plan.yaml", "--out"], ["result.json", "report.html", "runs.jsonl"]),
    "compare": (
        ["compare", "scenario.yaml", "other.yaml", "--out"], ["comparison.csv", "comparison.html"]
    ),
    "reproduce": (["reproduce", "sctp_linkdown", "--out"], ["sctp_linkdown/report.html", "index.html"]),
    "calibrate": (["calibrate", "manet_probing", "--out"], ["manet_probing/calibration/calibration.json"]),
    "validate": (
        ["validate", "reference.csv", "--mapping", "mapping.yaml", "--out"], ["validation.html"]
    ),
    "fit": (
        ["fit", "scenario.yaml", str(MEASURED), "--free", "hops.0.rate", "--out"], ["fit.html", "fit.json"]
    ),
    "availability": (
        ["availability", "year.yaml", "--goal", "goodput_bps >= 100 kbit/s", "--replications", "4", "--out"],
        ["availability.html", "states.csv"],
    ),
    "sweep": (["sweep", "sweep.yaml", "--out"], []),
}  # fmt: skip
"""Commands that write into a folder, and files that they write there."""


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Return a folder with an input for every command."""
    folder = tmp_path_factory.mktemp("made")
    (folder / "scenario.yaml").write_text(SCENARIO)
    (folder / "other.yaml").write_text(SCENARIO.replace("window: 10", "window: 4"))
    (folder / "year.yaml").write_text(SCENARIO.replace("delay:", "outages: {down: 4 h a year}, delay:"))
    (folder / "plan.yaml").write_text(PLAN)
    (folder / "sweep.yaml").write_text("scenario: scenario.yaml\naxes: {transport.window: [2, 4]}\n")
    (folder / "reference.csv").write_text("id,goodput\n1,1e5\n")
    (folder / "mapping.yaml").write_text(
        "scenario:\n  duration: 1 s\n  transport: {protocol: newreno, window: 10}\n"
        "  hops: [{rate: 1 Mbit/s, delay: 10 ms, queue: 20}]\n"
        "replications: 2\nclasses: {all: true}\nmetrics: {goodput: goodput_bps}\n"
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        assert run("sweep", "sweep.yaml", "--out", "store").exit_code == 0
    return folder


@pytest.fixture
def here(made, monkeypatch):
    monkeypatch.chdir(made)
    return made


def run(*args):
    return CliRunner().invoke(app, [str(arg) for arg in args])


def command(name, out):
    from netcarlo.sweeps.store.store import Store

    key = Store.open("store").frame(["key"])["key"].iloc[0] if name == "rerun" else ""
    return run(*(key if arg == "KEY" else arg for arg in FILES[name]), out)


def refused(found, words):
    assert found.exit_code == 2, found.output
    assert found.stderr.count("\n") == 1 and words in found.stderr, found.stderr


@pytest.fixture
def drained(tmp_path):
    """Return a pipe that `cat` reads, and the process."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with subprocess.Popen(["cat", pipe], stdout=subprocess.PIPE) as reader:
        time.sleep(0.3)  # until it waits for a writer
        yield pipe, reader
        reader.kill()


def test_every_command_that_writes_is_tested_here():
    writing = {
        (command.name or command.callback.__name__)
        for command in app.registered_commands
        if "out" in typing.get_type_hints(command.callback)
    }
    assert writing == FILES.keys() | FOLDERS.keys()


@pytest.mark.full
def test_no_other_code_replaces_files():
    """Files for users are written by `schema.destination` only."""
    allowed = {
        "schema/destination.py",
        "sweeps/store/files.py",  # files of a store, which asks `destination` what may be replaced
    }
    found = set()
    for path in [*ROOT.glob("estimator/**/*.py"), *ROOT.glob("reports/**/*.py")]:
        for node in ast.walk(ast.parse(path.read_text())):
            if not isinstance(node, ast.Call):
                continue
            called = ast.unparse(node.func)
            modes = [a.value for a in node.args if isinstance(a, ast.Constant) and isinstance(a.value, str)]
            writes = any(set(mode) & set("wax+") and len(mode) < 4 for mode in modes)
            if called in ("os.replace", "os.rename", "shutil.move", "shutil.copy") or (
                called.rpartition(".")[2] == "open" and writes
            ):
                found.add("/".join(path.parts[-2:]))
            if called.rpartition(".")[2] in ("write_text", "write_bytes") and "output" not in called:
                found.add("/".join(path.parts[-2:]))
    assert {name for name in found if not any(a.endswith(name) for a in allowed)} == set()


@pytest.mark.parametrize("name", sorted({*FILES} - {"new"}))
def test_a_link_stays_and_its_target_is_replaced(here, tmp_path, name):
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_text("old")
    target.chmod(0o640)
    link.symlink_to("target")
    found = command(name, link)
    assert found.exit_code == 0, found.output
    assert link.is_symlink() and os.readlink(link) == "target"
    assert target.stat().st_size > 10 and not target.is_symlink()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link", "target"]


@pytest.mark.parametrize("name", sorted({*FILES} - {"new"}))
def test_a_pipe_is_written_into(here, drained, name):
    pipe, reader = drained
    found = []
    thread = threading.Thread(target=lambda: found.append(command(name, pipe)), daemon=True)
    thread.start()
    text = reader.communicate(timeout=60)[0]
    thread.join(10)
    assert found[0].exit_code == 0, found[0].output
    assert stat.S_ISFIFO(os.lstat(pipe).st_mode) and len(text) > 10


@pytest.mark.parametrize("name", sorted({*FILES} - {"new"}))
def test_what_cannot_be_a_file_is_refused_before_the_work(here, tmp_path, name, monkeypatch):
    store = "sweeps.store.store.Store"
    for work in ("simulation.launches.run", f"{store}.open", f"{store}.frame"):
        if name != "rerun" or "Store" not in work:
            monkeypatch.setattr(f"netcarlo.{work}", None)
    if name == "rerun":
        monkeypatch.setattr(sys.modules[__name__], "command", lambda _, out: run(*FILES["rerun"], out))
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_text("kept")
    before = sorted(tmp_path.rglob("*"))
    for out, words in (
        ("folder", "is a folder; name a file"),
        ("pipe", "nothing reads from this pipe; start its reader first"),
        ("loop", "its links lead in a circle"),
        ("file/out", "file is a file; name a folder"),
        ("x" * 300, "File name too long"),
    ):
        refused(command(name, tmp_path / out), words)
    assert sorted(tmp_path.rglob("*")) == before and (tmp_path / "file").read_text() == "kept"


@pytest.mark.parametrize("name", FOLDERS)
def test_folders_are_checked_before_the_work(here, tmp_path, name, monkeypatch):
    monkeypatch.setattr("netcarlo.simulation.launches.run", None)
    monkeypatch.setattr("netcarlo.kernels.runtime.launch.trace", None)
    args, names = FOLDERS[name]
    (tmp_path / "file").write_text("kept")
    (tmp_path / "link").symlink_to("file")
    for out in ("file", "link", "file/inside"):
        refused(run(*args, tmp_path / out), "is a file; name a folder you can write to")
    for inside in names:
        out = tmp_path / inside.replace("/", "_")
        (out / inside).parent.mkdir(parents=True)
        os.mkfifo(out / inside)
        refused(run(*args, out), "nothing reads from this pipe")
        assert stat.S_ISFIFO(os.lstat(out / inside).st_mode)
        (out / inside).unlink()
        (out / inside).mkdir()
        refused(run(*args, out), "is a folder; name a file")
    assert (tmp_path / "file").read_text() == "kept"


@pytest.mark.parametrize("name", ["trace", "plan", "compare", "sweep"])
def test_folders_and_files_in_them_may_be_links(here, tmp_path, name):
    args, names = FOLDERS[name]
    (tmp_path / "link").symlink_to("later")  # made by the command
    if names:
        (tmp_path / "elsewhere").write_text("old")
        (tmp_path / "later").mkdir()
        (tmp_path / "later" / names[0]).symlink_to("../elsewhere")
    found = run(*args, tmp_path / "link")
    assert found.exit_code == 0, found.output
    assert (tmp_path / "link").is_symlink() and (tmp_path / "later").is_dir()
    if names:
        assert (tmp_path / "later" / names[0]).is_symlink()
        assert (tmp_path / "elsewhere").read_text() != "old"


def test_new_never_writes_to_what_is_there(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to("nothing")
    for out in ("pipe", "link", "."):
        refused(run("new", "path", "--out", tmp_path / out), "exists already")
    assert not (tmp_path / "nothing").exists()


@pytest.mark.full
@pytest.mark.skipif(os.geteuid() != 0, reason="needs mknod: run as root")
def test_device_nodes_survive(here, tmp_path):
    """Private device nodes are used, because a regression would destroy those of the machine."""
    null, full, disk = tmp_path / "null", tmp_path / "full", tmp_path / "disk"
    os.mknod(null, 0o666 | stat.S_IFCHR, os.makedev(1, 3))
    os.mknod(full, 0o666 | stat.S_IFCHR, os.makedev(1, 7))
    os.mknod(disk, 0o600 | stat.S_IFBLK, os.makedev(240, 0))
    try:
        null.write_text("")
    except PermissionError:
        pytest.skip("this file system has no devices")
    for name in sorted({*FILES} - {"new"}):
        assert command(name, null).exit_code == 0
        found = command(name, full)
        assert found.exit_code == 3 and "No space left on device" in found.stderr.splitlines()[-1]
        refused(command(name, disk), "is a block device")
    report("store", out=null)
    with pytest.raises(MachineError, match="No space left"):
        report("store", out=full)
    kinds = [stat.S_IFMT(os.lstat(path).st_mode) for path in (null, full, disk)]
    assert kinds == [stat.S_IFCHR, stat.S_IFCHR, stat.S_IFBLK]


@pytest.mark.full
@pytest.mark.parametrize("mode", ["pipe", "file", "append"])
def test_standard_output_is_written_into(here, tmp_path, mode):
    out = tmp_path / "out"
    out.write_text("before\n")
    arguments = [sys.executable, "-m", "netcarlo", "export", "store", "--to", "csv", "--out", "/dev/stdout"]
    if mode == "pipe":
        text = subprocess.run(arguments, capture_output=True, check=True, text=True).stdout
    else:
        with out.open("w" if mode == "file" else "a") as file:
            subprocess.run(arguments, stdout=file, stderr=subprocess.DEVNULL, check=True)
        text = out.read_text()
    assert text.startswith("before\n") == (mode == "append")
    assert text.removeprefix("before\n").startswith('"cell",') and text.count("\n") == 3 + (mode == "append")


def test_modes_of_files_are_kept_and_read_only_ones_are_refused(tmp_path):
    path = tmp_path / "out"
    path.write_text("old")
    path.chmod(0o640)
    destination.write_texts({path: "new"})
    assert path.read_text() == "new" and stat.S_IMODE(path.stat().st_mode) == 0o640
    if os.geteuid():
        path.chmod(0o440)
        with pytest.raises(InputError, match="cannot be written"):
            destination.check_file(path)


def test_files_of_a_store_are_not_replaced_unless_they_are_regular(tmp_path):
    files = Files(tmp_path)
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "target").write_text("old")
    (tmp_path / "link").symlink_to("target")
    with pytest.raises(InputError, match=r"nothing reads|not a regular file"):
        files.write("pipe", b"new")
    files.write("link", b"new")
    assert (tmp_path / "link").is_symlink() and (tmp_path / "target").read_text() == "new"
    with pytest.raises(InputError, match="not a regular file"):
        files.read("pipe")


def test_errors_of_a_validation_may_be_one_csv_file(here, tmp_path):
    """`--out NAME.csv` writes the table of rows alone, in a pipe or behind a link as other files."""
    found = run("validate", "reference.csv", "--mapping", "mapping.yaml", "--out", tmp_path / "rows.csv")
    assert found.exit_code == 0, found.output
    assert (tmp_path / "rows.csv").read_text().startswith("id,")
    assert [path.name for path in tmp_path.iterdir()] == ["rows.csv"]
