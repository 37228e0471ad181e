"""Files of reproduced studies; none is written unless all can be written."""

import csv
import json
from html import unescape
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from netcarlo import reproduce
from netcarlo.cli.main import app
from netcarlo.errors import InputError, MachineError
from netcarlo.reports.parts import write
from netcarlo.reports.parts.write import write_all
from netcarlo.reports.study.folder import index_page
from netcarlo.studies.evaluation import Evaluation
from netcarlo.studies.study import load
from tests.studies.reproductions import reproduction

Reproduced = tuple[Path, Evaluation]
VERDICTS = "held", "not held", "undecided", "not testable"
FILES = {"report.html", "comparison.csv", "claims.csv", "provenance.json"}


def read(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_files(reproduced: Reproduced) -> None:
    out, _ = reproduced
    assert {path.name for path in out.iterdir()} == {"index.html", "sctp_linkdown"}
    assert {path.name for path in (out / "sctp_linkdown").iterdir()} == FILES


def test_comparison_has_a_row_per_published_number(reproduced: Reproduced) -> None:
    out, _ = reproduced
    rows = read(out / "sctp_linkdown" / "comparison.csv")
    published = read(load("sctp_linkdown").folder / "published.csv")
    assert list(rows[0]) == [
        "study", "table", "figure_or_section", "protocol", "link_down_s", "bandwidth_mbps", "paper_rtt_ms",
        "sim_time_s", "metric", "unit", "published", "kind", "estimate", "ci_low", "ci_high", "replications",
        "rel_error", "matches_printed", "within", "fitted", "fluid", "note",
    ]  # fmt: skip
    assert len(rows) == len(published)
    for row, number in zip(rows, published, strict=True):
        assert all(row[column] == number[column] for column in number if column != "step")
        if row["estimate"]:
            error = float(row["estimate"]) / float(row["published"]) - 1
            assert float(row["rel_error"]) == pytest.approx(error, abs=1e-8)
            assert row["matches_printed"] in ("true", "false")
            assert float(row["ci_low"] or "-inf") <= float(row["estimate"]) <= float(row["ci_high"] or "inf")
        else:
            assert row["note"], "a number without an estimate says why"
    assert {row["replications"] for row in rows if row["metric"] == "utilisation"} == {"3"}
    assert {row["metric"] for row in rows if not row["estimate"]} == {
        "gain_multi_over_tcp_by_bandwidth"
    }


def test_claims_have_evidence(reproduced: Reproduced) -> None:
    rows = read(reproduced[0] / "sctp_linkdown" / "claims.csv")
    assert [row["claim"] for row in rows] == [claim.id for claim in reproduced[1].claims]
    assert all(row["evidence"] and row["verdict"] in VERDICTS for row in rows)
    assert all(row["estimate"] for row in rows if row["verdict"] != "not testable")


def test_provenance_tells_how_to_do_it_again(reproduced: Reproduced) -> None:
    record = json.loads((reproduced[0] / "sctp_linkdown" / "provenance.json").read_text(encoding="utf-8"))
    assert (record["replications"], record["seed"], record["target"]) == (3, 1, "cpu")
    assert {"netcarlo", "numba", "python"} <= set(record["versions"])
    assert set(record["scenarios"]) == {"tcp.yaml", "sctp_single.yaml", "sctp_multi.yaml"}


def run(*args: str | Path) -> Result:
    return CliRunner().invoke(app, [str(arg) for arg in args])


@pytest.fixture
def idle(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forbid simulations of studies."""
    monkeypatch.setattr("netcarlo.studies.evaluation.simulate_cells", lambda *_, **__: pytest.fail("worked"))


@pytest.mark.usefixtures("idle")
def test_unknown_study_names_the_nearest_before_the_work(tmp_path: Path) -> None:
    complaint = "'sctp_linkdwn' does not exist; did you mean 'sctp_linkdown'"
    with pytest.raises(InputError, match=complaint):
        reproduce(["mobility", "sctp_linkdwn"])
    found = run("reproduce", "mobility", "sctp_linkdwn", "--out", tmp_path / "out")
    assert found.exit_code == 2 and complaint in found.stderr
    assert not (tmp_path / "out").exists()


@pytest.mark.usefixtures("idle")
def test_folder_that_cannot_be_made_is_refused_before_the_work(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    found = run("reproduce", "sctp_linkdown", "--out", tmp_path / "file" / "out")
    assert found.exit_code == 2 and "name a folder you can write to" in found.stderr


@pytest.mark.usefixtures("idle")
def test_unknown_target_is_refused_before_the_work() -> None:
    with pytest.raises(InputError, match="target = 'gpu' is unknown"):
        next(reproduce(["sctp_linkdown"], target="gpu"))


def test_all_files_or_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_all(tmp_path, {"a": "old", "b": "old"})
    (tmp_path / "mine").write_text("kept")
    real = write.Path.write_text

    def full(path: Path, *args: str, **kwargs: str) -> int:
        if path.name == "b":
            raise OSError(28, "No space left on device")
        return real(path, *args, **kwargs)

    monkeypatch.setattr(write.Path, "write_text", full)
    with pytest.raises(MachineError, match="No space left on device"):
        write_all(tmp_path, {"a": "new", "b": "new"})
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {
        "a": "old",
        "b": "old",
        "mine": "kept",
    }


def test_index_says_in_a_line_how_near_a_study_is(reproduced: Reproduced) -> None:
    out, evaluation = reproduced
    line = json.loads((out / "sctp_linkdown" / "provenance.json").read_text(encoding="utf-8"))["line"]
    judged = [row for row in evaluation.rows if row.published.kind == "printed" and row.estimate]
    assert len(judged) == 138  # the six inputs are no results
    worst = max(judged, key=lambda row: abs(row.rel_error) if row.published.value else 0.0)
    assert line["digits"] == line["met"] == sum(bool(row.matches_printed) for row in judged)
    assert line["near"] == sum(abs(row.difference) <= 0.05 * row.published.value for row in judged)
    assert line["numbers"] == line["judged"] == len(judged)
    assert line["fitted"] == sum(bool(row.fitted) for row in judged)
    verdicts = [claim.verdict for claim in evaluation.claims]
    assert [line[key] for key in ("held", "missed", "undecided", "untestable")] == [
        verdicts.count(kind) for kind in ("held", "not held", "undecided", "not testable")
    ]
    assert float(line["worst"].removesuffix(" %")) == pytest.approx(100 * abs(worst.rel_error), rel=0.05)
    assert [claim["id"] for claim in line["open"]] == [
        claim.id for claim in evaluation.claims if claim.verdict != "held"
    ]
    text = (out / "index.html").read_text(encoding="utf-8")
    assert line["worst"] in text and all(claim["text"] in unescape(text) for claim in line["open"])


def test_index_leaves_out_what_is_no_reproduction(tmp_path: Path) -> None:
    for text in ("", "[]", '{"format": 0}'):
        write_all(tmp_path / "sctp_linkdown", {"provenance.json": text})
        assert "sctp_linkdown/report.html" not in index_page(tmp_path)


def test_a_report_opens_with_counts_and_shows_the_first_demands() -> None:
    """A report does not begin with `Within the declared tolerance`, which would hide changed demands."""
    out, evaluation = reproduction("wlan_buffer")
    page = unescape((out / "wlan_buffer" / "report.html").read_text(encoding="utf-8"))
    verdict = page[page.index('id="verdict"') :][:400]
    held = sum(claim.verdict == "held" for claim in evaluation.claims)
    assert f"<strong>{held} of {len(evaluation.claims)} claims held" in verdict
    assert "eclared tolerance" not in verdict
    assert "First declared: best second: every number within 8 %" in page
    changed = "The test of this claim was changed after the results were known: first expected to be held"
    assert changed in page
