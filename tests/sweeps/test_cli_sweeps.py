import json
import os
import re
import subprocess
import sys
from io import StringIO

import pandas as pd
import pytest
from typer.testing import CliRunner

from netcarlo.cli.main import app
from netcarlo.kernels.runtime import launch
from netcarlo.sweeps.store.store import Store

SWEEP = """\
name: small
scenario:
  duration: 2 s
  transport: {protocol: newreno, window: 10}
  hops: [{rate: {uniform: [1 Mbit/s, 2 Mbit/s]}, delay: 10 ms, loss: 1 %}]
axes:
  transport.protocol: [newreno, vegas]
draw: 64
replications: 2
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return a folder with a sweep file and its store."""
    path = tmp_path_factory.mktemp("sweeps")
    (path / "small.yaml").write_text(SWEEP)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(path)
        first = run("sweep", "small.yaml", "--out", "store")
    assert first.exit_code == 0, first.output
    assert "128 of 128 cells are stored, 128 of them new, 0 failed" in first.stdout
    assert "% of the time in simulations" in first.stdout
    return path


@pytest.fixture(autouse=True)
def here(folder, monkeypatch):
    monkeypatch.chdir(folder)


def run(*args):
    return CliRunner().invoke(app, [str(arg) for arg in args])


def first_key():
    return Store.open("store").frame(["key"])["key"].iloc[0]


@pytest.mark.full
def test_the_same_command_has_nothing_left_to_do():
    again = run("sweep", "small.yaml", "--out", "store")
    assert again.exit_code == 0
    assert "all 128 cells are stored already" in again.stdout
    assert run("sweep", "small.yaml", "--out", "store", "--quiet").stdout == ""


@pytest.mark.full
def test_parts_are_the_whole(tmp_path):
    for done, part in (("42 of 128", "2/3"), ("84 of 128", "1/3"), ("128 of 128", "3/3")):
        result = run("sweep", "small.yaml", "--out", tmp_path / "parts", "--part", part)
        assert result.exit_code == 0 and f"small: {done} cells are stored" in result.stdout, result.output
    assert Store.open(tmp_path / "parts").digest() == Store.open("store").digest()


@pytest.mark.full
def test_a_dry_run_writes_nothing():
    before = sorted(os.listdir())
    found = run("sweep", "small.yaml", "--dry-run", "--set", "draw.count=4096", "--json")
    assert found.exit_code == 0, found.output
    data = json.loads(found.stdout)
    assert data["cells"] == 8192
    assert 0 < data["time_s"][0] < data["time_s"][1]
    assert "nothing to do" in run("sweep", "small.yaml", "--dry-run", "--out", "store").stdout
    assert sorted(os.listdir()) == before


@pytest.mark.full
def test_the_summary_as_json():
    found = run(
        "sweep", "small.yaml", "--out", "other", "--json", "--seed", 7, "--replications", 1, "--chunk", 32
    )
    data = json.loads(found.stdout)
    assert (data["cells"], data["networks"], data["chunks"], data["failed"]) == (128, 128, 4, 0)
    assert 0 < data["kernel_share"] < 1
    assert set(Store.open("other").frame(["seed"])["seed"]) == {7}


@pytest.mark.full
def test_status():
    data = json.loads(run("status", "store", "--json").stdout)
    assert (data["cells"], data["done"], data["failed"], data["missing"]) == (128, 128, 0, 0)
    assert data["digest"] == Store.open("store").digest()
    assert data["runs"][0]["outcome"] == "finished"
    text = run("status", "store").stdout
    assert "128 of 128 cells done, 0 failed, 0 missing" in text
    assert re.search(r"run .*: finished, 128 cells", text)


@pytest.mark.full
def test_status_names_damaged_files(tmp_path):
    run("sweep", "small.yaml", "--out", tmp_path / "s", "--chunk", 64)
    chunk = sorted((tmp_path / "s" / "chunks").iterdir())[0]
    chunk.write_bytes(chunk.read_bytes()[:100])
    text = run("status", tmp_path / "s").stdout
    assert f"damaged: {chunk.name}: truncated" in text
    assert "64 missing" in text
    again = run("sweep", "small.yaml", "--out", tmp_path / "s")
    assert "64 of them new" in again.stdout
    assert Store.open(tmp_path / "s").digest() == Store.open("store").digest()


@pytest.mark.full
def test_query_and_export(tmp_path):
    sql = 'SELECT "transport.protocol" AS protocol, count(*) AS n FROM cells GROUP BY ALL ORDER BY ALL'
    assert json.loads(run("query", "store", sql, "--json").stdout) == [
        {"protocol": "newreno", "n": 64},
        {"protocol": "vegas", "n": 64},
    ]
    assert pd.read_csv(StringIO(run("query", "store", sql, "--csv").stdout))["n"].tolist() == [64, 64]
    assert "newreno 64" in run("query", "store", sql).stdout
    sql = "SELECT '=1+1' AS \"@sum\", -2 AS n, NULL AS nothing"
    assert run("query", "store", sql, "--csv").stdout == "'@sum,n,nothing\n'=1+1,-2,\n"
    assert run("export", "store", "--to", "csv", "--out", tmp_path / "t.csv").exit_code == 0
    assert len(pd.read_csv(tmp_path / "t.csv")) == 128
    run("export", "store", "--to", "netcdf")
    assert os.path.getsize("store.nc") > 1000
    os.remove("store.nc")


def test_rerun_a_cell_and_trace_it(tmp_path):
    key = first_key()
    found = run("rerun", "store", key[:12], "--out", tmp_path / "cell.yaml")
    assert found.exit_code == 0, found.output
    assert " is bit-identical to the store" in found.stdout
    assert "netcarlo trace" in found.stderr
    one = json.loads(run("rerun", "store", key, "--replication", 1, "--json").stdout)
    traced = run("trace", tmp_path / "cell.yaml", "--replication", 1, "--out", tmp_path)
    assert traced.exit_code == 0, traced.output
    (shown,) = re.findall(r"goodput_bps +(\S+) kbit/s", traced.stdout)
    assert float(shown) == pytest.approx(one["table"]["goodput_bps"]["value"] / 1e3, rel=1e-3)
    sent = one["table"]["sent"]["value"]
    assert re.search(rf"  sent +{sent:,.0f}\n", traced.stdout)


def test_sensitivity_of_a_protocol():
    found = run("sensitivity", "store", "--of", "goodput", "--where", "transport.protocol=vegas", "--json")
    (data,) = json.loads(found.stdout)
    assert data["of"] == "goodput_bps"
    assert data["where"] == {"transport.protocol": "vegas"}
    assert data["indices"]["paths.0.hops.0.rate"]["first"] > 0.5
    said = run("sensitivity", "store").stdout
    starts = [line for line in said.splitlines() if line.startswith("Goodput with transport.protocol = ")]
    assert len(starts) == 2 and all("hops.0.rate matters most, it" in line for line in starts)
    assert len(re.findall(r"^ hops\.0\.rate +\d+ % \[-?\d+, \d+\] *$", said, re.MULTILINE)) == 2


def test_report_is_a_page(tmp_path):
    found = run("report", "store", "--out", tmp_path / "r.html")
    assert found.exit_code == 0, found.output
    assert "netcarlo rerun store" in (tmp_path / "r.html").read_text()


BAD = [
    (["sweep", "none.yaml", "--out", "s"], "none.yaml: no such file"),
    (["sweep", "small.yaml"], "--out is missing; .* --out small"),
    (["sweep", "small.yaml", "--out", "store", "--seed", "3"], "store store: has another sweep 'small'"),
    (["sweep", "small.yaml", "--out", "s", "--workers", "0"], "--workers 0 is out of range"),
    (["sweep", "small.yaml", "--out", "s", "--scheduler", "tcp://127.0.0.1:9"], "refused.*; start one with"),
    (["sweep", "small.yaml", "--out", "s", "--target", "gpu"], "target = 'gpu' is unknown"),
    (["sweep", "small.yaml", "--out", "s", "--part", "4/3"], "--part 4/3 is not a part"),
    (["status", "nowhere"], "store nowhere: does not exist"),
    (["query", "store", "SELEC 1"], "query: "),
    (["export", "store", "--to", "xls"], "'xls' is not allowed; expected one of csv, parquet, netcdf"),
    (["rerun", "store", "zz"], "no cell has the key 'zz'"),
    (["sensitivity", "store", "--of", "speed"], "--of speed is not an outcome of the sweep"),
    (["sensitivity", "store", "--where", "loss=3"], "does not name an axis"),
    (["sensitivity", "store", "--where", "transport.protocol=bic"], "expected one of newreno, vegas"),
    (["report", "store", "--out", "small.yaml/r.html"], "small.yaml is a file"),
]


@pytest.mark.parametrize(("args", "complaint"), BAD, ids=[" ".join(args) for args, _ in BAD])
def test_bad_input_is_one_line_exit_2_and_no_output(args, complaint):
    before = sorted(os.listdir())
    found = run(*args)
    assert found.exit_code == 2, found.output
    assert found.stdout == ""
    (line,) = found.stderr.splitlines()
    assert line.startswith("error: ")
    assert re.search(complaint, line), line
    assert sorted(os.listdir()) == before


@pytest.mark.full
def test_a_failed_cell_is_exit_1_and_can_be_rerun(tmp_path, monkeypatch):
    simulate = launch.run

    def run_or_fail(model, *args, **options):
        if model.name == "tcp_vegas":
            raise FloatingPointError("made up,\nfor this test")
        return simulate(model, *args, **options)

    store = tmp_path / "s"
    with monkeypatch.context() as patch:
        patch.setattr(launch, "run", run_or_fail)
        found = run("sweep", "small.yaml", "--out", store)
        assert found.exit_code == 1, found.output
        assert "64 of 128 cells are stored, 64 of them new, 64 failed" in found.stdout
        command = re.search(
            r"failed: FloatingPointError: made up, for this test\n +netcarlo (rerun .*)", found.stdout
        )
        assert command
        again = run(*command[1].split())
        assert again.exit_code == 1
        assert "fails: FloatingPointError: made up" in again.stdout
    assert "64 of them new" in run("sweep", "small.yaml", "--out", store).stdout  # only what failed
    assert Store.open(store).digest() == Store.open("store").digest()


@pytest.mark.full
@pytest.mark.skipif(os.name != "posix", reason="needs POSIX signals: run on Linux or macOS")
def test_termination_keeps_what_is_done(tmp_path):
    command = [
        sys.executable, "-m", "netcarlo.cli.main", "sweep", "small.yaml", "--out", str(tmp_path / "s"),
        "--set", "draw.count=65536", "--chunk", "64",
    ]  # fmt: skip
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    chunks = tmp_path / "s" / "chunks"
    while process.poll() is None and not (chunks.exists() and len(list(chunks.glob("cells-*"))) >= 3):
        pass
    process.terminate()
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert out == ""
    (line,) = err.splitlines()
    stored = re.fullmatch(r"interrupted: (\d+) of 131072 cells are stored; the same command resumes", line)
    assert stored, line
    store = Store.open(tmp_path / "s")
    assert int(stored[1]) == store.scan().done.sum() >= 192
    (record,) = store.runs()
    assert record["outcome"] == "interrupted"
    assert record["cells"] == int(stored[1])
