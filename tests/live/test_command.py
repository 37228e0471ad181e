"""Command `netcarlo live`: one line per error, and an immediate end."""

import importlib.util
import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest
from typer.testing import CliRunner

from netcarlo.cli.main import app

ROOT = Path(__file__).parents[2]


@pytest.mark.full
def test_ctrl_c_in_the_middle_ends_it_at_once(lossy: Path, tmp_path: Path) -> None:
    """Ctrl-C ends the server while a visitor waits for a run that takes minutes."""
    file = tmp_path / "long.yaml"
    file.write_text(
        lossy.read_text().replace("2 s", "1000 s").replace("replications: 40", "replications: 100000")
    )
    process = subprocess.Popen(
        [sys.executable, "-m", "netcarlo", "live", str(file), "--port", "0"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT, env={**os.environ},
    )  # fmt: skip
    assert process.stdout is not None and process.stderr is not None
    address = re.match(r"(http://127\.0\.0\.1:\d+/)  \(Ctrl-C ends\)\n", process.stdout.readline())
    assert address is not None
    assert "netcarlo live" in urllib.request.urlopen(address[1]).read().decode()
    time.sleep(1)  # packets of the first visitor are under way
    asked = time.monotonic()
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=20) == 130
    assert time.monotonic() - asked < 2
    assert process.stderr.read() == "interrupted\n"


@pytest.mark.full
@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["no.yaml"], "error: no.yaml: no such file"),
        (["bad.yaml"], "error: bad.yaml:2: transport.window = 0 is below the limit"),
        (
            ["good.yaml", "--set", "hops.0.rate=3"],
            "error: --set hops.0.rate=3: good.yaml: hops.0.rate = 3 has no unit",
        ),
        (["sweep.yaml"], "error: sweep.yaml: this is a sweep, not a scenario; run netcarlo sweep"),
        (["good.yaml", "--port", "busy"], "error: --port {port} at 127.0.0.1 cannot be used"),
    ],
)
def test_bad_input_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], complaint: str
) -> None:
    monkeypatch.chdir(tmp_path)
    good = "duration: 1 s\ntransport: {protocol: newreno}\nhops: [{rate: 1 Mbit/s, delay: 1 ms}]\n"
    Path("good.yaml").write_text(good)
    Path("bad.yaml").write_text(good.replace("newreno}", "newreno, window: 0}"))
    Path("sweep.yaml").write_text("scenario: good.yaml\naxes: {transport.window: [1, 2]}\n")
    with socket.create_server(("127.0.0.1", 0)) as busy:
        port = str(busy.getsockname()[1])
        given = [port if word == "busy" else word for word in arguments]
        result = CliRunner().invoke(app, ["live", *given, *([] if "--port" in given else ["--port", "0"])])
    assert result.exit_code == 2
    assert result.stderr.startswith(complaint.format(port=port)), result.stderr
    assert result.stderr.count("\n") == 1


def test_without_dash_the_extra_is_named(lossy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    find = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name, *rest: None if name == "dash" else find(name, *rest)
    )
    result = CliRunner().invoke(app, ["live", str(lossy)])
    assert result.exit_code == 2
    assert result.stderr == "error: netcarlo live needs Dash; install it with pip install 'netcarlo[live]'\n"
