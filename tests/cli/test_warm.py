"""`netcarlo warm`: models that files need are compiled in advance, and not again."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from netcarlo import configs
from netcarlo.cli.main import app

CONFIGS = Path(str(configs.__file__)).parent
runner = CliRunner()


def models(*files: str) -> list[str]:
    """Return the names of the models that files need."""
    done = runner.invoke(app, ["warm", *files, "--json"])
    assert done.exit_code == 0, done.output
    return list(json.loads(done.stdout)["models"])


@pytest.fixture(autouse=True)
def nothing_is_compiled(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Compile nothing, and note what would be compiled."""
    from netcarlo.kernels.runtime import compile as compilers

    made: list[str] = []
    monkeypatch.setattr(compilers, "on_disk", lambda model: model.name in made)
    monkeypatch.setattr(compilers, "prepare", lambda some: None)
    monkeypatch.setattr(compilers, "cpu_loop", lambda model: made.append(model.name))
    return made


def test_each_kind_of_file_names_its_models() -> None:
    assert models(str(CONFIGS / "examples" / "lossy_hop.yaml")) == ["tcp_newreno"]
    assert models(str(CONFIGS / "plans" / "access_point_users.yaml")) == ["wifi_udp"]
    assert set(models("sctp_linkdown")) == {"tcp_newreno", "sctp"}
    sweep = models(str(CONFIGS / "random_topologies.yaml"))
    assert len(sweep) > 1 and len(sweep) == len(set(sweep))
    both = models(str(CONFIGS / "examples" / "lossy_hop.yaml"), "sctp_linkdown")
    assert both == ["tcp_newreno", "sctp"]


def test_the_second_time_nothing_is_left() -> None:
    file = str(CONFIGS / "examples" / "lossy_hop.yaml")
    assert "1 compiled in" in runner.invoke(app, ["warm", file]).stdout
    assert runner.invoke(app, ["warm", file]).stdout == "1 model needed, all compiled already\n"


def test_other_files_are_refused(tmp_path: Path) -> None:
    mapping = CONFIGS / "references" / "ns2_lossy.yaml"
    done = runner.invoke(app, ["warm", str(mapping)])
    assert done.exit_code == 2 and "is a mapping; expected a scenario" in done.stderr
    assert runner.invoke(app, ["warm", str(tmp_path / "none.yaml")]).exit_code == 2


@pytest.mark.parametrize("file", ["sctp_linkdown", "sctp_linkdown/study.yaml"])
def test_a_study_may_be_named_by_its_folder(file: str) -> None:
    assert models(str(CONFIGS / "studies" / file)) == models("sctp_linkdown")
