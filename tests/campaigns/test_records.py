"""Runner of campaigns: the list of campaigns, and the records, one for each campaign that ends."""

import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.campaigns import record, run
from tests.campaigns.__main__ import main
from tests.campaigns.catalogue import campaigns

AT = datetime(2026, 3, 4, 5, 6, 7, tzinfo=UTC)
MAIN = '"""{}\n\nMore."""\n\n\ndef main() -> None:\n    """Do it."""\n'


def test_modules_and_packages_with_a_main_are_campaigns(tmp_path: Path) -> None:
    files = {
        "benchmarks/__init__.py": "", "benchmarks/helper.py": "x = 1",
        "benchmarks/fast.py": MAIN.format("Fast."),
        "ptx/__init__.py": MAIN.format("PTX."), "ptx/parts.py": MAIN.format("Part of ptx."),
        "gpu/__init__.py": '"""GPU."""', "gpu/__main__.py": MAIN.format("On a GPU."),
        "records/README.md": "", "test_fast.py": MAIN.format("Test."), "__main__.py": MAIN.format("Runner."),
    }  # fmt: skip
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    found = campaigns(tmp_path, "here")
    assert {name: (one.module, one.summary) for name, one in found.items()} == {
        "fast": ("here.benchmarks.fast", "Fast."), "gpu": ("here.gpu.__main__", "On a GPU."),
        "ptx": ("here.ptx", "PTX."),
    }  # fmt: skip
    (tmp_path / "fast.py").write_text(MAIN.format("Again."))
    with pytest.raises(ValueError, match="two campaigns are named fast"):
        campaigns(tmp_path, "here")


def test_the_list_has_a_line_for_each_campaign() -> None:
    began = time.monotonic()
    command = [sys.executable, "-X", "importtime", "-m", "tests.campaigns"]
    done = subprocess.run(command, cwd=record.ROOT, capture_output=True, text=True, check=True)
    assert [line.split()[0] for line in done.stdout.splitlines()] == list(campaigns())
    assert "netcarlo" not in done.stderr and time.monotonic() - began < 30


@pytest.mark.parametrize(
    ("arguments", "said"),
    [(["fuz"], "'fuz' is unknown; did you mean fuzz?"), (["nothing"], "'nothing' is unknown; `python -m")],
)
def test_an_unknown_campaign_is_refused(
    arguments: list[str], said: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["tests.campaigns", *arguments])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2 and said in capsys.readouterr().err


Runs = Callable[[str], tuple[int, str]]


@pytest.fixture
def recorded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Runs:
    """`recorded(program)`: the exit status of a campaign that is this Python program, and its record."""

    def one(program: str) -> tuple[int, str]:
        monkeypatch.setattr(run, "command", lambda name, arguments: [sys.executable, "-u", "-c", program])
        status = run.recorded("fuzz", ["--case", "3"], tmp_path / "records")
        [file] = (tmp_path / "records").iterdir()
        assert re.fullmatch(r"\d{4}-\d\d-\d\d-\d{6}-fuzz\.md", file.name)
        return status, file.read_text()

    return one


def test_a_record_says_what_ran_where_and_how_it_ended(
    recorded: Runs, capfd: pytest.CaptureFixture[str]
) -> None:
    program = "import sys; print('| a |'); print('\\r1 of 2\\r2 of 2', file=sys.stderr); sum(range(10**7))"
    status, text = recorded(program)
    assert status == 0
    out, err = capfd.readouterr()
    assert out == "| a |\n" and err.startswith("\r1 of 2\r2 of 2\nrecord: ")  # as it was printed
    fields = dict(re.findall(r"^\| ([\w ]+) \| (.+) \|$", text, re.MULTILINE))
    assert fields["result"] == "completed, exit status 0"
    assert fields["command"] == "`python -m tests.campaigns fuzz --case 3`"
    assert fields["commit"].startswith(record.commit()[:40])
    assert re.match(r"Python 3\.\d+\.\d+, netcarlo \S+, NumPy \S+, Numba \S+$", fields["versions"])
    assert fields["processor"].endswith(" cores") and fields["GPU"]
    assert float(fields["wall time"].split()[0]) > 0 < float(fields["processor time"].split()[0])
    output = text.partition("## Output\n\n")[2]
    assert sorted(output.splitlines()) == ["    2 of 2", "    | a |"]


@pytest.mark.parametrize(
    ("program", "status", "result"),
    [
        ("raise SystemExit(3)", 3, "failed, exit status 3"),
        ("1 / 0", 1, "failed, exit status 1"),
        ("import os; os.kill(os.getpid(), 9)", 128 + 9, "failed: ended by SIGKILL"),
    ],
)
def test_the_status_is_that_of_the_campaign(program: str, status: int, result: str, recorded: Runs) -> None:
    found, text = recorded(program)
    assert found == status and f"| result | {result} |" in text
    assert ("ZeroDivisionError" in text) == ("1 / 0" in program)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_campaign_is_recorded_with_what_it_printed(
    number: signal.Signals, recorded: Runs
) -> None:
    program = f"import os, time; print('begun'); os.kill(os.getppid(), {int(number)}); time.sleep(100)"
    before = signal.getsignal(number)
    status, text = recorded(program)
    assert status == {signal.SIGINT: 130, signal.SIGTERM: 143}[number]
    assert f"| result | interrupted by {number.name} |" in text and "    begun\n" in text
    assert signal.getsignal(number) is before


def test_a_process_that_is_left_behind_does_not_hold_the_record(
    recorded: Runs, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run, "LAST_WORDS_S", 0.2)
    program = "import subprocess; print(subprocess.Popen(['sleep', '20']).pid)"
    began = time.monotonic()
    status, text = recorded(program)
    assert status == 0 and time.monotonic() - began < 15
    os.kill(int(text.split()[-1]), signal.SIGKILL)


def test_a_record_exists_while_the_campaign_runs(recorded: Runs, tmp_path: Path) -> None:
    program = f"import pathlib; [f] = pathlib.Path({str(tmp_path)!r}).glob('records/*'); print(f.read_text())"
    _, text = recorded(program)
    assert f"    | result | {record.RUNNING} |" in text


def test_records_of_the_same_second_have_different_names(tmp_path: Path) -> None:
    found = [record.new_file(tmp_path, "fuzz", AT).name for _ in range(2)]
    assert found == ["2026-03-04-050607-fuzz.md", "2026-03-04-050607-fuzz-2.md"]


def test_a_record_names_no_paths_hosts_or_users(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(socket, "gethostname", lambda: "lab-7")
    monkeypatch.setenv("LOGNAME", "ann")
    output = (
        f'  File "{record.ROOT}/tests/x.py", line 3\n  File "{sys.prefix}/lib/y.py"\n'
        f"ann@lab-7 in {record.ROOT}\n"
        "banned 10 /s kbit/s 5/7 https://example.org/a/b\x1b[31m red\x1b[0m\n"
    )
    lines = output.encode().split(b"\n")
    text = record.text("references", ["/usr/lib/refs"], AT, {"commit": "abc"}, lines, None)
    assert "`python -m tests.campaigns references <path>/refs`" in text
    assert 'File "tests/x.py", line 3' in text and 'File "<path>/y.py"' in text
    assert "<user>@<host> in ." in text
    assert "banned 10 /s kbit/s 5/7 https://example.org/a/b red" in text
    assert sys.prefix not in text and str(record.ROOT) not in text


def test_a_line_is_the_one_that_a_terminal_shows_in_the_end() -> None:
    printed = b"\r1 of 3\r2 of 3\r3 of 3", b"a\r", b"", b"\x1b[2Kend"
    assert [record.line(each) for each in printed] == ["3 of 3", "a", "", "end"]


def test_a_commit_with_changes_is_marked(tmp_path: Path) -> None:
    assert record.commit(tmp_path) == "unknown"
    git = ["git", "-C", str(tmp_path), "-c", "user.name=a", "-c", "user.email=a@b"]
    for command in (["init", "-q"], ["commit", "-q", "--allow-empty", "-m", "one"]):
        subprocess.run([*git, *command], check=True)
    assert re.fullmatch(r"[0-9a-f]{40}", record.commit(tmp_path))
    (tmp_path / "new").touch()
    assert record.commit(tmp_path).endswith(" with uncommitted changes")
