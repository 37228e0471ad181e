"""Studies in folders of users: data only, errors in all files at once, code that needs trust."""

import csv
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import netcarlo
from netcarlo.cli.main import app
from netcarlo.errors import InputError
from netcarlo.reports.study.tables import layout
from netcarlo.schema import trusted
from netcarlo.studies import judgement
from netcarlo.studies import study as studies
from netcarlo.studies.checking import check_study
from netcarlo.studies.evaluation import evaluate
from netcarlo.studies.study import Study
from tests.studies.invented import PUBLISHED, SCENARIO, STUDY, changed, write

CODE = """
from netcarlo.studies.claims import Claim, positive
from netcarlo.studies.cells import estimate

METRICS = {"doubled": lambda cell: 2 * cell.outcome("goodput_bps")}

def claims(cells):
    values = cells.value("doubled", protocol="reno", loss=0.5)
    yield Claim("C2", "It is positive.", "section 9", positive(estimate(values)), "yes")
"""


def run(*arguments: object) -> tuple[int, str]:
    """Return exit code and output of a command."""
    done = CliRunner().invoke(app, [str(one) for one in arguments])
    return done.exit_code, done.output


def test_a_folder_is_reproduced_as_a_study_of_netcarlo(tmp_path: Path) -> None:
    folder = write(tmp_path / "mine")
    code, said = run("reproduce", folder, "--out", tmp_path / "out", "--check")
    assert code == 0, said
    files = {path.name for path in (tmp_path / "out" / "mine").iterdir()}
    assert files == {"report.html", "comparison.csv", "claims.csv", "provenance.json"}
    assert "mine" in (tmp_path / "out" / "index.html").read_text()
    with (tmp_path / "out" / "mine" / "claims.csv").open() as file:
        (row,) = csv.DictReader(file)
    assert (row["claim"], row["verdict"]) == ("C1", "held")


def test_metrics_have_their_unit_and_other_cells(tmp_path: Path) -> None:
    (found,) = netcarlo.reproduce([write(tmp_path / "mine")])
    cells, values = found.cells, {}
    for protocol in ("reno", "newreno"):
        values[protocol] = cells.one(protocol=protocol, loss=2.0).outcome("goodput_bps") / 1e6
        np.testing.assert_allclose(cells.value("goodput", protocol=protocol, loss=2.0), values[protocol])
    (gain,) = (row for row in found.rows if row.published.metric == "gain")
    assert gain.estimate is not None
    assert gain.estimate.mean == pytest.approx(np.mean(100 * (values["newreno"] / values["reno"] - 1)))
    assert (gain.published.step, gain.published.unit, gain.note) == (1, "%", "Invented.")
    assert [row.published.step for row in found.rows[:4]] == [0.1] * 4


def test_an_answer_a_missing_outcome_and_cells_without_numbers(tmp_path: Path) -> None:
    gap = "known(longest_silence_s, first_delivery_s)"
    text = changed(
        STUDY,
        ("replications:", 'answer: "It has {gap[protocol=reno, loss=2]:.3f} s"\nreplications:'),
        ("claims:\n", "cells: [{protocol: [reno, newreno], loss: [1]}]\nclaims:\n"),
        ("metrics:\n", f"metrics:\n  gap: {{value: '{gap}', unit: s}}\n"),
        ("columns: [loss]}", "columns: [loss], cells: {protocol: reno}}"),
    )  # fmt: skip
    study = Study(write(tmp_path / "mine", study=text))
    check_study(study)  # TCP has no longest_silence_s
    found = evaluate(study)
    first = found.cells.one(protocol="reno", loss=2.0).outcome("first_delivery_s")
    assert found.answer == f"It has {first.mean():.3f} s"
    table = layout(found, study.description.tables[0])
    assert [head["text"] for head in table["columns"][0]] == ["0.5 %", "1 %", "2 %"]
    line, other = table["lines"]
    assert [cell["published"] for cell in line["cells"]] == ["1.4", "", "0.8"]
    assert other["cells"][1] is None  # newreno: only the published cells
    alone = found.cells.value("goodput", protocol="reno", loss=1.0)
    assert line["cells"][1]["estimate"] == f"{alone.mean():.3g}"


def test_the_same_seed_has_the_same_bits(tmp_path: Path) -> None:
    one, other = (next(netcarlo.reproduce([write(tmp_path / name)])) for name in ("a", "b"))
    assert [row.estimate for row in one.rows] == [row.estimate for row in other.rows]
    (another,) = netcarlo.reproduce([tmp_path / "a"], seed=4)
    assert another.rows[0].estimate != one.rows[0].estimate


def test_all_faults_of_all_files_at_once(tmp_path: Path) -> None:
    study = changed(
        STUDY,
        ("unit: Mbit/s", "unit: mbit/s"),
        ("rule: goodput[protocol=newreno]", "rule: goodput[protocol=vegas]"),
        ("x: loss", "x: losss"),
        ("metric: gain}", "metricc: gain}"),
    )
    published = changed(PUBLISHED, ("0.5,goodput,1.4", "0.5,goodput,1.4 Mbit/s"), ("gain", "gian"))
    scenario = changed(SCENARIO, ("20 ms", "20 m"))
    folder = write(tmp_path / "mine", study=study, published=published, scenario=scenario)
    code, said = run("reproduce", folder, "--out", tmp_path / "out")
    assert code == 2 and not (tmp_path / "out").exists()
    for words in (
        "study.yaml:11: metrics.goodput.unit: 'mbit/s' is unknown; write 'Mbit/s'",
        "published.csv:2: published = '1.4 Mbit/s': expected a number",
        "published.csv:6: 'gian' is not in metrics of study.yaml; did you mean 'gain'?",
        "study.yaml:22: figures.0.x: 'losss' is not a condition; did you mean 'loss'?",
        "explanations.0.where.metricc: 'metricc' is not a condition",
        "link.yaml:4: hops.0.delay = '20 m' has the wrong unit 'm'",
        "study.yaml:17: claims.C1.rule: 'goodput[protocol=vegas]': no cell has protocol=vegas",
    ):
        assert words in said, words
    assert run("reproduce", folder, "--dry-run") == (2, said)


def test_faults_of_the_description_are_reported_with_those_of_the_numbers(tmp_path: Path) -> None:
    study = changed(STUDY, ("title: An", "titel: An"))
    published = changed(PUBLISHED, ("metric,published", "metric,publishd"))
    with pytest.raises(InputError) as caught:
        Study(write(tmp_path / "mine", study=study, published=published))
    assert len(caught.value.lines) == 2
    assert "study.yaml:1: titel is an unknown field; did you mean 'title'?" in caught.value.lines[0]
    assert "published.csv:1: has no column 'published'; add it to this line" in caught.value.lines[1]


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ("value: goodput_bps", "value: goodputbps", "'goodputbps' is neither an outcome nor a metric"),
        ("value: goodput_bps", "value: goodput_bps / loss", "'loss' is a condition, whose value"),
        ("value: goodput_bps", "value: handovers", "'handovers' is not measured here"),
        ("value: goodput_bps", "value: (goodput_bps", "is not an expression"),
        ("unit: Mbit/s", "unit: ms", "'ms' is not a unit of a rate; write one such as 'Mbit/s'"),
        ("> goodput[protocol=reno] - 1", "is larger", "is not a rule; write A > B"),
        ("reno] - 1\n", "reno] - 1 +\n", "is not an expression"),
        (":.3f} and", ":.3q} and", "'.3q' is not a format"),
        ("protocol=reno]:.3f}", "protocol=reno, lss=2]:.3f}", "'lss' is not a condition; did you mean"),
        ("scenario: link.yaml", "scenario: ../link.yaml", "is outside the folder"),
        ("scenario: link.yaml", "scenario: lonk.yaml", "lonk.yaml: no such file"),
        ("scenario: link.yaml", "scenario: '{kind}.yaml'", "'kind' is not a condition; known: protocol"),
        ('{transport.protocol: "{}"}', '{transport.protocoll: "{}"}', "transport.protocoll"),
        ("columns: [loss]", "columns: [los]", "'los' is not a condition; did you mean 'loss'?"),
        ('table: "1"', 'table: "7"', "no published number has '7' in the column table"),
        (":.3f} and", ":999999999.3f} and", "'999999999.3f' is not a format"),
        ("tables:", "traces: [{figure: '3', title: t, cell: {protocol: reno}}]\ntables:",
         "traces.0.cell: 2 cells have protocol=reno; give the conditions of one"),
        ("replications: 4", "replications: 0", "replications = 0 is out of range"),
        ('value: "100', 'value: "gain[loss=2] + 100', "'gain' refers to itself"),
        ('gain: {value: "100 * (goodput / goodput[protocol=reno] - 1)", unit: "%"}', "gain: the gain",
         "metrics.gain has no expression; write metrics: {gain: {value: goodput_bps}}"),
    ],
)  # fmt: skip
def test_a_fault_has_its_place_and_a_remedy(old: str, new: str, complaint: str, tmp_path: Path) -> None:
    folder = write(tmp_path / "mine", study=changed(STUDY, (old, new)))
    with pytest.raises(InputError) as caught:
        check_study(Study(folder))
    assert complaint in str(caught.value)
    assert all(line.startswith(str(tmp_path)) for line in caught.value.lines)


def test_a_dry_run_simulates_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("netcarlo.studies.cells.simulate_all", lambda *_, **__: pytest.fail("simulated"))
    code, said = run("reproduce", write(tmp_path / "mine"), "--dry-run")
    words = "published numbers: 5, cells: 4, replications of each: 4, claims in study.yaml: 1"
    assert (code, said) == (0, f"mine: no faults; {words}\n")


def test_code_runs_only_if_it_is_trusted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trusted, "contents", set())
    monkeypatch.setattr("netcarlo.transport.congestion._trusted", trusted.contents)
    folder = write(tmp_path / "mine")
    own = folder / "claims.py"
    own.write_text(CODE + "raise SystemExit('it ran')\n")
    code, said = run("reproduce", folder, "--out", tmp_path / "out")
    assert code == 2 and "would run with your permissions, and is not trusted yet" in said
    assert f"--trust {own}" in said and "it ran" not in said

    own.write_text(CODE)
    code, said = run("reproduce", folder, "--out", tmp_path / "out", "--trust", own)
    assert code == 0, said
    with (tmp_path / "out" / "mine" / "claims.csv").open() as file:
        assert [row["claim"] for row in csv.DictReader(file)] == ["C1", "C2"]

    own.write_text(CODE + "\n1 / 0\n")
    assert run("reproduce", folder)[0] == 2  # another content
    code, said = run("reproduce", folder, "--trust", folder)
    assert code == 2 and f"{own}:{len(CODE.splitlines()) + 2}: failed with ZeroDivisionError" in said


def test_a_failure_of_code_names_its_line(tmp_path: Path) -> None:
    folder = write(tmp_path / "mine")
    own = folder / "claims.py"
    own.write_text(CODE.replace('"doubled", protocol', '"trebled", protocol'))
    netcarlo.trust(own)
    with pytest.raises(InputError, match=r"claims\.py:8: failed with KeyError: 'trebled'"):
        evaluate(Study(folder))


def test_the_folder_of_a_study_of_netcarlo_is_that_study() -> None:
    wds = studies.load("wds")
    assert studies.load(wds.folder).package == wds.package == "netcarlo.studies.wds"
    with pytest.raises(InputError, match="did you mean 'wds'"):
        studies.load("wdss")
    with pytest.raises(InputError, match="or the folder of your own"):
        studies.load("nothing_like_it")


def test_the_starter_runs_and_holds(tmp_path: Path) -> None:
    folder = tmp_path / "first"
    code, said = run("new", "study", folder)
    assert code == 0 and f"next: netcarlo reproduce {folder}" in said
    assert run("new", "study", folder)[0] == 2
    assert {path.name for path in folder.iterdir()} == {"study.yaml", "published.csv", "link.yaml"}
    assert sum("#" in line for line in (folder / "study.yaml").read_text().splitlines()) >= 10
    code, said = run("reproduce", folder, "--out", tmp_path / "out", "--check")
    assert code == 0 and "3 of 3 claims held" in said, said


BRANCH = """\
name: branch
duration: 3 s
transport: {protocol: newreno, window: 64 packets}
shared:
  links:
    - {ends: [A, B], rate: 20 Mbit/s, delay: 10 ms}
    - {ends: [B, A], rate: 20 Mbit/s, delay: 10 ms}
    - {ends: [A, C], rate: 5 Mbit/s, delay: 15 ms}
    - {ends: [C, A], rate: 5 Mbit/s, delay: 15 ms}
  flows:
    - {source: A, sink: B}
    - {source: A, sink: C, class: video, udp: {rate: 1 Mbit/s, payload: 1200 B}}
"""

PARTS = """\
title: Parts
source: Nobody
question: Which flow?
replications: 2
seed: 1
scenario: link.yaml
conditions:
  payload: {label: Payload, unit: B, set: {shared.flows.1.udp.payload: "{} B"}}
metrics:
  first: {value: "goodput_bps[flow=0]", unit: Mbit/s}
  second: {value: "goodput_bps[flow=1]", unit: Mbit/s}
  both: {value: "(goodput_bps[flow=0] + goodput_bps[flow=1]) / 1e6"}
  late: {value: "delay_p95_s[class=video]", unit: ms}
  busy: {value: "utilisation[link=2]", unit: "%"}
"""


def test_metrics_of_flows_links_and_classes(tmp_path: Path) -> None:
    published = "payload,metric,published\n" + "".join(
        f"1200,{name},1\n" for name in ("first", "second", "both", "late", "busy")
    )
    folder = write(tmp_path / "mine", study=PARTS, published=published, scenario=BRANCH)
    (found,) = netcarlo.reproduce([folder])
    (cell,) = found.cells.all
    first, second, both, late, busy = (row.estimate.mean for row in found.rows if row.estimate is not None)
    assert second == pytest.approx(1, rel=0.02) and busy == pytest.approx(20, rel=0.1)
    assert both == pytest.approx(first + second)
    assert both == pytest.approx(cell.outcome("goodput_bps").mean() / 1e6, rel=1e-3)
    assert late == pytest.approx(1e3 * cell.outcome("video_delay_p95_s").mean())

    text = changed(
        PARTS, ("[flow=1]", "[flow=7]"), ("[link=2]", "[link=D-E]"), ("[class=video]", "[class=vid]")
    )
    (folder / "study.yaml").write_text(text)
    with pytest.raises(InputError) as caught:
        check_study(Study(folder))
    said = str(caught.value)
    assert "metrics.second.value: '7' is none of the flows; write 0 to 1" in said
    assert "metrics.busy.value: 'D-E' is none of the links; write 0 to 3, or A-B" in said
    assert "metrics.late.value: 'vid_delay_p95_s' is not measured here" in said


@pytest.mark.parametrize(
    ("form", "expected"), [(".1f", "0.0"), ("+.1f", "+0.0"), (".2f", "-0.02"), ("", "-0.02")]
)
def test_a_sentence_has_no_negative_zero(form: str, expected: str) -> None:
    assert judgement._written(np.array([-0.03, -0.01]), form, interval=False) == expected
