"""Small run of the campaign that checks PTX: one model, and the message for wrong PTX."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.campaigns.ptx import __main__ as campaign
from tests.campaigns.ptx import verdicts

ENVIRONMENT = ".common .global .align 8 .u64 _ZN08NumbaEnv8netcarlo{}B3v90E5Array;\n"


def test_the_order_of_declarations_that_no_instruction_uses_does_not_count() -> None:
    first, second = (ENVIRONMENT.format(name) for name in "ab")
    code = ".visible .entry netcarlo() { ret; }\n"
    assert verdicts.ptx_hash(first + second + code) == verdicts.ptx_hash(second + code)
    assert verdicts.ptx_hash(code) != verdicts.ptx_hash(code.replace("ret", "exit"))
    with pytest.raises(AssertionError, match="uses an environment"):
        verdicts.ptx_hash(code + "mov.u64 %rd1, _ZN08NumbaEnv8netcarloa;\n")


def test_verdicts_are_stored_and_renewed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(verdicts, "FILE", tmp_path / "verdicts.json")
    (tmp_path / "verdicts.json").write_text(json.dumps({"gone": {"sources": "0"}}))
    calls: list[tuple[str, bool]] = []

    def examine(name: str, *, anyway: bool) -> tuple[str, dict[str, Any] | None, str]:
        calls.append((name, anyway))
        verdict = {"sources": verdicts.sources_hash(campaign.cases()[name]), "ptx": "1", "rows": 300}
        return (name, None, "AssertionError: 7 rows differ") if name == "udp" else (name, verdict, "")

    monkeypatch.setattr(campaign, "examine", examine)
    monkeypatch.setattr("sys.argv", ["ptx", "udp", "tcp_newreno", "--processes", "1"])
    assert campaign.main() == 1
    shown = capsys.readouterr().out
    assert "udp: FAILED: AssertionError: 7 rows differ" in shown and "1 of 2 cases pass" in shown
    assert {*verdicts.stored()} == {"tcp_newreno"}
    monkeypatch.setattr("sys.argv", ["ptx", "udp", "tcp_newreno", "--processes", "1", "--stale"])
    assert campaign.main() == 1
    assert calls == [("udp", True), ("tcp_newreno", True), ("udp", False)]
    capsys.readouterr()
    monkeypatch.setattr("sys.argv", ["ptx", "udp", "tcp_newreno", "--stale", "--list"])
    assert campaign.main() == 0 and len(calls) == 3
    assert capsys.readouterr().out == f"udp\n1 of {len(campaign.cases())} cases\n"


@pytest.mark.full
@pytest.mark.needs("numba_cuda", "gcc", "ptxas")
def test_a_model_is_checked() -> None:
    _, verdict, reason = campaign.examine("tcp_newreno")
    assert verdict, reason
    assert verdict["rows"] == 300 and verdict["spills"] == 0 and float(str(verdict["lanes"])) > 0.65
