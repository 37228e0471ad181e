"""The table of mutants fits the present source, and the campaign distinguishes killed mutants from
survivors.
"""

import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from tests.campaigns.mutants import __main__ as program
from tests.campaigns.mutants.run import ROOT, BrokenError, Copy, Result, verdict
from tests.campaigns.mutants.table import Mutant, mutants

MUTANTS = mutants()
ONE = Mutant(
    name="one", file="estimator/sums.py", before="a + b", after="a - b", breaks="Sums are differences.",
    tests=("tests/test_sums.py",),
)  # fmt: skip


@pytest.mark.parametrize("name", MUTANTS)
def test_a_mutant_fits_the_source(name: str) -> None:
    mutant = MUTANTS[name]
    source = (ROOT / mutant.file).read_text(encoding="utf-8")
    changed = mutant.applied_to(source)
    compile(changed, mutant.file, "exec")
    lines = zip(source.splitlines(), changed.splitlines(), strict=True)
    assert sum(before != after for before, after in lines) == 1
    assert mutant.breaks.endswith(".") and mutant.tier in (1, 2)
    assert bool(mutant.why) == (mutant.tier == 2), "say why tier 1 does not notice it"


@pytest.mark.parametrize("name", MUTANTS)
def test_the_tests_of_a_mutant_exist(name: str) -> None:
    for test in MUTANTS[name].tests:
        file, _, function = test.partition("::")
        assert (ROOT / file).exists()
        if function := function.partition("[")[0]:
            head = re.search(rf"((?:^[@ )].*\n)*)^def {function}\(", (ROOT / file).read_text(), re.MULTILINE)
            assert head, f"{test} does not exist"
            assert MUTANTS[name].tier == 2 or "@pytest.mark.full\n" not in head[1], f"{test} is in tier 2"


def test_mutants_are_spread_over_the_packages() -> None:
    folders = {str(Path(mutant.file).parent) for mutant in MUTANTS.values()}
    assert len(folders) >= 20 and {name.partition("/")[0] for name in folders} == {
        "kernels", "estimator", "reports"
    }  # fmt: skip


@pytest.mark.parametrize("source", ["a + b\na + b\n", "a+b\n"])
def test_text_that_is_not_there_exactly_once_is_refused(source: str) -> None:
    with pytest.raises(ValueError, match=r"mutant one: 'a \+ b' occurs [02] times in estimator/sums.py"):
        ONE.applied_to(source)


@pytest.mark.parametrize(
    ("status", "output", "expected"),
    [
        (0, "3 passed", Result("", "", 1.5)),
        (1, "FAILED t.py::test_a[x y] (0.1 s): 3 == 4\n", Result("t.py::test_a[x y]", "3 == 4", 1.5)),
        (1, "FAILED in setup t.py::test_a (12.3 s): KeyError\n", Result("t.py::test_a", "KeyError", 1.5)),
        (-11, "", Result("all", "ended by signal 11", 1.5)),
    ],
)  # fmt: skip
def test_a_verdict_is_what_pytest_says(status: int, output: str, expected: Result) -> None:
    assert verdict(status, output, 1.5) == expected


@pytest.mark.parametrize("status", [2, 4, 5])
def test_tests_that_do_not_run_are_no_verdict(status: int) -> None:
    with pytest.raises(BrokenError, match=f"status {status}"):
        verdict(status, "no tests ran", 1.0)


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """Return a small checkout whose only test notices `ONE`."""
    root = tmp_path / "checkout"
    for name, text in {
        "estimator/__init__.py": "",
        "estimator/sums.py": "def total(a, b):\n    return a + b\n",
        "kernels/__init__.py": "",
        "configs/__init__.py": "",
        "reports/__init__.py": "",
        "conftest.py": "from tests import tiers\nfrom tests.failures import Failures\n\n"
        "def pytest_addoption(parser):\n    tiers.add_options(parser)\n\n"
        "def pytest_configure(config):\n    config.pluginmanager.register(Failures(config))\n"
        "    tiers.configure(config)\n",
        "tests/test_sums.py": "import pytest\nfrom netcarlo.sums import total\n\n"
        "def test_nothing():\n    assert total(3, 0) == 3\n\n"
        "@pytest.mark.full\ndef test_total():\n    assert total(3, 4) == 7\n",
    }.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    for name in ("__init__.py", "tiers.py", "failures.py"):
        (root / "tests" / name).write_text((ROOT / "tests" / name).read_text())
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    return root


@pytest.mark.full
def test_a_mutant_is_killed_by_the_tier_that_notices_it(
    checkout: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    copy = Copy(tmp_path / "copy", checkout)
    same = replace(ONE, name="same", tier=2, after="b + a", equivalent="Sums commute.")
    assert program.tried(copy, [replace(ONE, name="other", tier=2), same]) == 0
    killed, equivalent, last = capsys.readouterr().out.splitlines()
    assert killed.startswith("1 of 2  other: killed in tier 2 after ")
    assert killed.endswith(" s: by tests/test_sums.py::test_total")
    assert equivalent.startswith("2 of 2  same: equivalent ") and equivalent.endswith(": Sums commute.")
    assert last == "2 of 2 mutants are killed, or proved equivalent."
    assert program.tried(copy, [ONE]) == 1
    assert "1 of 1  one: SURVIVED in tier 1 after " in capsys.readouterr().out
    for file in ("estimator/sums.py", "tests/test_sums.py"):
        assert (checkout / file).read_text() == (copy.folder / file).read_text()


@pytest.mark.full
def test_tests_that_fail_anyway_are_no_verdict(checkout: Path, tmp_path: Path) -> None:
    file = checkout / "estimator/sums.py"
    file.write_text(file.read_text().replace("a + b", "a + b + 1"))
    with pytest.raises(BrokenError, match="test_nothing fails without a mutant"):
        program.tried(Copy(tmp_path / "copy", checkout), [ONE])


def test_some_are_tried_or_all(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    chosen: list[str] = []

    def tried(copy: object, some: list[Mutant]) -> int:
        chosen.extend(each.name for each in some)
        return 0

    copied: Callable[[Path], None] = lambda folder: None  # noqa: E731
    monkeypatch.setattr(program, "Copy", copied)
    monkeypatch.setattr(program, "tried", tried)
    monkeypatch.setattr(sys, "argv", ["mutants"])
    assert program.main() == 0 and chosen == [*MUTANTS]
    chosen.clear()
    monkeypatch.setattr(sys, "argv", ["mutants", "vegas-beta"])
    assert program.main() == 0 and chosen == ["vegas-beta"]
    monkeypatch.setattr(sys, "argv", ["mutants", "--list", "vegas-beta"])
    assert program.main() == 0
    assert capsys.readouterr().out.startswith("vegas-beta  ")
    monkeypatch.setattr(sys, "argv", ["mutants", "vegas-beat"])
    with pytest.raises(SystemExit):
        program.main()
    assert (
        "mutant 'vegas-beat' is unknown; did you mean vegas-beta? --list prints all"
        in capsys.readouterr().err
    )
