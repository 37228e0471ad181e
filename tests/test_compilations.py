"""Summary of models that a test run compiled."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

from tests.compilations import PROPERTY, Compilations


def _loop(function: Any, file: Path, signature: str) -> str:
    file.touch()
    return "loop"


def test_models_are_counted_when_they_are_compiled(tmp_path: Path) -> None:
    """A model is counted at its first use; the second use finds it in the cache."""
    found = Compilations()
    compiled = found.timed(_loop)
    for _ in range(2):
        assert compiled(None, tmp_path / "wifi_udp-12ab.nbc", "") == "loop"
    [(model, seconds)] = found.found
    assert model == "wifi_udp"
    assert 0.0 <= seconds < 1.0


def test_the_summary_lists_the_slowest_first() -> None:
    """Reports of all phases count, also those that came from another process as lists."""
    lines: list[str] = []
    reports = {
        "": [SimpleNamespace(nodeid="test_a", user_properties=[(PROPERTY, ("wifi_udp", 7.0))])],
        "passed": [
            SimpleNamespace(nodeid="test_b", user_properties=[["verdicts", "x"], [PROPERTY, ["sctp", 8.25]]])
        ],
        "warnings": [SimpleNamespace(message="no report")],
    }
    Compilations().pytest_terminal_summary(SimpleNamespace(stats=reports, write_line=lines.append))  # type: ignore[arg-type]
    assert lines == [
        "Compiled 2 models in 15 s of processor time.",
        "   8.2 s sctp in test_b",
        "   7.0 s wifi_udp in test_a",
    ]
