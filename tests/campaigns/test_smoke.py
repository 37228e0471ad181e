"""A small run of each campaign: its `main`, with few replications, few rounds and without other simulators.

Campaigns with further tests have their own file, `test_NAME.py`.
"""

import re
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import numpy as np
import pandas as pd
import pytest

from netcarlo.kernels.base.layout import Out
from netcarlo.studies.comparison import Check
from tests.campaigns.catalogue import campaigns

CAMPAIGNS = campaigns()
OWN = {path.stem.removeprefix("test_") for path in Path(__file__).parent.glob("test_*.py")}

Outputs = Callable[..., str]


@pytest.fixture
def output(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Outputs:
    """`output(name, *arguments, CONSTANT=value)`: what a campaign prints with constants of its module set."""

    def run(name: str, *arguments: object, **constants: object) -> str:
        campaign = CAMPAIGNS[name]
        module = import_module(campaign.module)
        for constant, value in constants.items():
            monkeypatch.setattr(module, constant, value)
        monkeypatch.setattr("sys.argv", [f"python -m tests.campaigns {name}", *map(str, arguments)])
        assert not campaign.main()()
        return capsys.readouterr().out

    return run


def judged(study: str, seed: int, replications: int | None) -> list[Check]:
    """Two demands, of which one is undecided on seed 2 of a study."""
    assert replications == 3
    verdict: Any = "undecided" if (study, seed) == ("wds", 2) else "held"
    return [Check("errors below 5 %", f"{seed} % to 9 %", verdict), Check("claims", "all", "held")]


def test_seeds(output: Outputs, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    shown = output("seeds", "--seeds", 3, "--replications", 3, "mobility", judged=judged)
    assert [line.partition(" (")[0] for line in shown.splitlines()] == [
        *(f"mobility, seed {seed}: 2 of 2 demands met" for seed in (1, 2, 3)),
        "", "all demands were met on seeds 1 to 3",
    ]  # fmt: skip
    monkeypatch.setattr("sys.argv", ["seeds", "--seeds", "2", "--first", "2", "--replications", "3"])
    assert CAMPAIGNS["seeds"].main()() == 1
    *lines, last = capsys.readouterr().out.splitlines()
    assert sum(line.startswith("wds, seed 2: 1 of 2 demands met") for line in lines) == 1
    assert last == "| wds | errors below 5 % | 1 of 2 | seed 2 undecided: 2 % to 9 % |"


@pytest.fixture
def alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Run without ns-2 and ns-3, which take half of the time of a benchmark."""
    monkeypatch.setattr("shutil.which", lambda name: None)


def test_every_campaign_has_a_smoke_test() -> None:
    here = set(re.findall(r"^def test_(\w+?)(?:__\w+)?\(", Path(__file__).read_text(), re.MULTILINE))
    assert set(CAMPAIGNS) - here - OWN == set()


@pytest.mark.parametrize("name", CAMPAIGNS)
def test_the_help_says_what_a_campaign_does(
    name: str, output: Outputs, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        output(name, "--help")
    assert ended.value.code == 0
    shown = capsys.readouterr().out
    assert shown.startswith(f"usage: python -m tests.campaigns {name} ")
    assert CAMPAIGNS[name].summary in shown and CAMPAIGNS[name].summary.endswith(".")


def rows(text: str) -> list[list[str]]:
    """Return the cells of a Markdown table without its header."""
    lines = [line for line in text.splitlines() if line.startswith("|") and not line.startswith("|--")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def test_compile_times(output: Outputs) -> None:
    """Run the campaign without the compilation, which takes seconds with an empty cache."""
    from tests.campaigns.benchmarks import compile_times

    compiled = "cpu_loop = lambda model: sum(range(1_000_000))\n"
    program = compile_times.PROGRAM.replace("compile.cpu_loop(", f"{compiled}cpu_loop(")
    head, line = output("compile_times", "udp", PROGRAM=program).splitlines()
    assert "took [s]" in head and re.match(r"udp +0\.\d +[1-9]\d*\.\d$", line)


def test_coverage(output: Outputs) -> None:
    shown = output("coverage", "--scale", "0.005")
    assert "laws: 11 truths, 5 samples each" in shown
    assert "under the stopping rule" in shown and "over networks: 5 runs" in shown


def test_fidelity(output: Outputs) -> None:
    head, _, line, *_ = output("fidelity", "tables").splitlines()
    assert "paths: fluid | paths: formula" in head and line.startswith("| tahoe | ")


def test_fluid(output: Outputs) -> None:
    from tests.campaigns.benchmarks import fluid

    real = fluid.many
    shown = output("fluid", "speed", 1, many=lambda topologies: real(topologies, flows=40))
    assert re.match(r"20 topologies of 1,000 flows, 60 s each: \S+ s on", shown)


def test_fluid_adhoc(output: Outputs) -> None:
    """`error` is replaced here; `tests/kernels/fluid/test_adhoc.py` runs it."""

    def error(scenario: Any, networks: int) -> tuple[Any, None, list[float]]:
        assert scenario.network.key == "adhoc"
        return np.full(networks, 0.5), None, [3.0, 40.0]

    _, walking, static = output("fluid_adhoc", "error", 2, KINDS=("udp",), error=error).splitlines()
    assert walking.startswith("udp, walking ") and static.startswith("udp, static ") and "50" in static


def test_fluid_delays(output: Outputs) -> None:
    from tests.campaigns.verification import fluid_delays

    def errors(asked: Any, words: dict[str, str]) -> dict[tuple[str, str], float]:
        asked.network.rows  # noqa: B018  # a scenario that can be simulated
        return {(said, "mean_delay_s"): 0.05 for said in words.values()}

    shown = rows(output("fluid_delays", 3, errors=errors))
    assert ["path", "3", "mean_delay_s", "+5 (+5 .. +5)"] in shown
    assert fluid_delays.path(1) != fluid_delays.path(2)


@pytest.mark.full
def test_fluid_paths(output: Outputs) -> None:
    """`both` is replaced here; `tests/kernels/fluid/test_mobile.py` runs it."""

    def both(tcp: str, rows: Any, **address: object) -> tuple[Any, Any, list[float]]:
        packets = np.full((len(rows.parameters), len(Out)), 1000)
        return packets * 2, packets, [3.0, 40.0]

    _, line = output("fluid_paths", "mobility", 2, "newreno", PROTOCOLS=("fmipv6",), both=both).splitlines()
    assert line.startswith("fmipv6, newreno ") and "100" in line


def test_growth(output: Outputs, tmp_path: Path) -> None:
    from tests.campaigns.benchmarks.growth import Panel

    panels = [Panel("loss [%]", "M packets/s", (0.1, 1), {"NewReno": [200.0, 90.0], "SACK": [150.0, 80.0]})]
    drawn: list[Any] = []
    shown = output(
        "growth", 1e3, "--picture", tmp_path / "growth.svg",
        measured=lambda most: panels, draw=lambda plot, file: drawn.append((plot, file)),
    )  # fmt: skip
    assert rows(shown)[1] == ["NewReno [M packets/s]", "200", "90"]
    [(plot, file)] = drawn
    assert [curve["name"] for curve in plot["data"]] == ["NewReno", "SACK"]
    assert file == tmp_path / "growth.svg"


def test_kernel(output: Outputs, tmp_path: Path) -> None:
    file = tmp_path / "linux_kernel_edges.csv"
    output("kernel", "--out", file, "edges", 8, measured=lambda rows, seed: rows)
    assert len(pd.read_csv(file)) == 8
    output("kernel", "--out", file, "again", file, "--ids", 3, "--runs", 5, measured=lambda rows, seed: rows)
    assert pd.read_csv(file)[["id", "n_seeds"]].to_numpy().tolist() == [[3, 5]]


def test_usrsctp(output: Outputs) -> None:
    def both(rows: pd.DataFrame, seed: int) -> pd.DataFrame:
        return rows.assign(netcarlo_goodput_bps=1.01, usrsctp_goodput_bps=1.0)

    shown = output("usrsctp", "sctp_bulk", 3, compared=both)
    assert shown.splitlines()[-1].startswith("goodput: median 1 %")


def test_link_down(output: Outputs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def measured(rows: pd.DataFrame, seed: int) -> pd.DataFrame:
        return rows.assign(goodput_Bps_mean=5e4, restart_after_up_s_mean=2.5, longest_silence_s_mean=0.5)

    monkeypatch.setattr("tests.campaigns.verification.kernel.runs.measured", measured)
    file = tmp_path / "kernel.csv"
    output("link_down", "kernel", "--out", file, "--links", "paper", "--down", 10)
    found = pd.read_csv(file)
    assert (found[found["metric"] == "goodput"]["published"] == 0.4).all()  # Mbit/s
    silence = found[found["metric"] == "silence"].set_index("transport")["published"]
    assert silence.to_dict() == {"tcp": 12.7, "mptcp": 0.5, "mptcp_backup": 0.5}  # TCP: down, 2.5 s, 0.2 s


@pytest.mark.full
def test_linux(output: Outputs) -> None:
    from tests.campaigns.benchmarks.linux import CONTROLS, linux_rows

    speeds = {"tcp_newreno": 2e8} | {f"tcp_linux_{control}": 1e8 for control in CONTROLS}
    found = rows(output("linux", rates=lambda loss: speeds))
    assert found[1] == ["0.01", "200.0", *4 * ["100.0"], "50, 50, 50, 50"]
    assert len(linux_rows("bbr3", loss=0.01).parameters) == 8


@pytest.mark.full
@pytest.mark.needs("chromium")
def test_live(output: Outputs) -> None:
    """Make one move instead of ten, with models from the cache."""
    shown = output("live", "--warm", MOVES=1)
    assert re.search(r"^server ready after \S+ s$", shown, re.MULTILINE)
    assert re.search(r"^packets within 2 % \[ms\]: median \d+, of \d+$", shown, re.MULTILINE)


@pytest.mark.full
def test_manet(output: Outputs, alone: None) -> None:
    from tests.campaigns.benchmarks import manet

    real, few = manet.chain, {"replications": 1, "transport.packets": 50}
    small = {"PACKETS": 100, "REPLICATIONS": 2, "ROUNDS": 1}
    simulated = SimpleNamespace(frame=pd.DataFrame({"completion_s": [12.0]}))
    simulate = Mock(return_value=simulated)
    chain = Mock(side_effect=lambda **options: real(**options).with_values(few))
    found = rows(output("manet", **small, chain=chain, simulate=simulate))
    assert all(float(line[-2]) > 0 for line in found[1:4])
    assert [line[0] for line in found[-5:]] == [f"{hops} hops" for hops in range(1, 6)]
    assert found[-1][1:] == ["2000", "2000", "+0.0%"] and simulate.call_count == 10


@pytest.mark.full
def test_mobility(output: Outputs, alone: None) -> None:
    def rates(cells: dict[str, tuple[object, Any]]) -> dict[str, tuple[float, float]]:
        assert all(len(each.parameters) == 4 for _, each in cells.values())
        return {name: (2e6 if name == "fixed" else 1e6, 100.0) for name in cells}

    few = {"REPLICATIONS": 4, "TCPS": ("reno",), "LOSSES": (0.0,), "PROTOCOLS": ("fmipv6",)}
    shown = rows(output("mobility", **few, rates=rates))
    assert shown[1:3] == [["reno", "0%", "2.0", "0.50"], ["reno", "1%", "2.0", "0.50"]]
    assert shown[4][:5] == ["reno", "0%", "100.0", "nan", "1.0"]


def test_newreno(output: Outputs, alone: None) -> None:
    others = {"two hops": ("tcp_newreno", 2)}
    shown = rows(output("newreno", ROUNDS=1, WINDOWS=(64,), LOSSES=(0.01,), OTHERS=others))
    assert shown[1][:2] == ["0.01", "64"] and shown[3][:2] == ["two hops", "0.01"]
    assert float(shown[1][2]) > 0


def test_outcomes(output: Outputs) -> None:
    shown = output("outcomes", 2, "--family", "path", "--fidelity", "formula").splitlines()
    assert shown[0] == "2 scenarios, numbers 0 to 1: 0 faults" and shown[1] == "path by formula 2"


def test_ranges(output: Outputs) -> None:
    assert "newreno" in output("ranges", "table")


def test_saving(output: Outputs) -> None:
    """`_answer`, which simulates networks, is replaced; its parts are tested in `tests/estimation`."""
    from tests.campaigns.benchmarks.saving import PROBLEMS

    found = rows(output("saving", "coverage", 1, SIZES=(64,), PROBLEMS=PROBLEMS[:1], least=lambda n: 0.0))
    assert [line[0] for line in found[9:]] == ["50%", "90%", "95%", "99%"]
    found = found[:8]
    assert [line[0] for line in found[1:]] == [
        "plain", "formula", "inputs", "formula, inputs", "fluid", "fluid, inputs", "formula, fluid, inputs"
    ]  # fmt: skip
    assert {line[-1] for line in found[1:]} <= {"0.0", "100.0"}
    shown = output("saving", "questions", "lossy_hop", _answer=lambda question: 4.0)
    assert shown.endswith("geometric mean of 1: 4.0\n")


def test_answers(output: Outputs) -> None:
    from tests.campaigns.benchmarks.answers import QUESTIONS, Answered

    kinds = {(network, kind) for network, kind, _ in QUESTIONS}
    assert {kind: sum(kind == k for _, k in kinds) for _, kind in kinds} == dict.fromkeys(
        ("mean", "winner", "goal", "plan"), 3
    )
    asked = {key: lambda: Answered("4", 10, 10.0, 40, 40.0) for key in QUESTIONS}
    shown = rows(output("answers", "ad hoc", QUESTIONS=asked))
    assert [row[-1] for row in shown[1:]] == ["4.0"] * 3


def test_shared(output: Outputs, alone: None) -> None:
    shown = rows(output("shared", ROUNDS=1, REPLICATIONS=1, NS2_AGENTS={"newreno": ""}))
    assert shown[1][0] == "newreno" and float(shown[1][2]) > 0 and shown[1][-1] == "nan"
    shown = rows(output("shared", "flows", ROUNDS=1, CROWDS=(16,)))
    assert shown[1][0] == "16" and float(shown[1][1]) > 0


def test_versions(output: Outputs, tmp_path: Path) -> None:
    """Compare two packages, of which the new one takes twice as long."""
    for name, work in (("old", 1), ("new", 2)):
        package = tmp_path / name / "netcarlo"
        package.mkdir(parents=True)
        (package / "__init__.py").write_text(
            "class Scenario:\n    check = staticmethod(lambda data: data)\n"
            f"def simulate(*_, **__):\n    sum(range({work}00_000))\n"
        )
    found = rows(output("versions", tmp_path / "old", tmp_path / "new", "shared", PAIRS=9))
    assert found[1][0] == "shared" and 0.2 < float(found[1][1]) < 0.9


@pytest.mark.full
def test_wifi(output: Outputs, alone: None) -> None:
    from tests.campaigns.benchmarks import wifi

    real = wifi.measure(wifi.chain(hops=1, duration_s=1), rounds=1)
    assert real.simulated_s > 1 and real.throughput_mbps == pytest.approx(10, rel=0.01)
    shown = output("wifi", measure=lambda scenario: real)
    assert len(rows(shown)) == 9 and "ns-3 is missing" in shown


def test_wifi_today(output: Outputs, tmp_path: Path) -> None:
    """Check two rows: the options of ns-3 omit empty columns, and each group has its goodput."""
    from tests.campaigns.benchmarks import ns3, wifi_today

    columns = (
        "queue_limit_pkts", "wired_owd_ms", "tcp_cc", "tcp_initial_ssthresh_bytes", "arrivals",
        "g1_mbps_per_flow", "g2_traffic", "g2_dir", "g2_ac", "g2_payload_bytes", "g2_mbps_per_flow",
        "g2_stations", "mpdus_per_ppdu_ap", "mpdus_per_ppdu_sta", "retry_mpdu_ratio", "g1_delay_ms",
        "g1_delay_p95_ms", "g2_goodput_mbps_mean", "g2_goodput_mbps_se",
    )  # fmt: skip
    cell = {
        **dict.fromkeys(columns), "std": "802.11ac", "width_mhz": 40, "nss": 1, "gi_ns": 400, "mcs": 7,
        "n_stations": 2, "ampdu_max_bytes": 65535, "amsdu_max_bytes": 0, "ba_window": 64, "rts_cts": 0,
        "mpdu_error_prob": 0, "bar_after_missed_ba": 1, "warmup_s": 0.5, "duration_s": 1, "n_seeds": 3,
        "g1_dir": "up", "g1_ac": "BE", "g1_payload_bytes": 1000, "g1_stations": "1-2",
    }  # fmt: skip
    video = {
        "id": 1, "kind": "edca_vi_be", "g1_traffic": "cbr", "g1_mbps_per_flow": 5, "g1_ac": "VI",
        "g2_traffic": "sat", "g2_dir": "up", "g2_ac": "BE", "g2_payload_bytes": 500, "g2_stations": "1-2",
        "g1_goodput_mbps_mean": 9.5, "g1_goodput_mbps_se": 0.5, "g2_goodput_mbps_mean": 30,
    }  # fmt: skip
    tcp = {
        "id": 2, "kind": "tcp_up", "g1_traffic": "tcp", "wired_owd_ms": 3, "tcp_cc": "cubic",
        "tcp_initial_ssthresh_bytes": 14480, "queue_limit_pkts": 100, "g1_goodput_mbps_mean": 50,
    }  # fmt: skip
    frame = pd.DataFrame([cell | video, cell | tcp])
    frame.to_csv(tmp_path / "ns3_wifi_today.csv", index=False)
    given: list[dict[str, object]] = []

    def run_cell(program: object, **options: object) -> tuple[list[float], float]:
        given.append(options)
        return [10.0, 20.0], 1.5 if options["duration"] else 0.5

    netcarlo = SimpleNamespace(simulated_s=300.0, goodput_mbps=[10.5, 21.0])
    shown = rows(output(
        "wifi_today", tmp_path / "ns3_wifi_today.csv", 1, 2, of_netcarlo=lambda row, replications: netcarlo,
        ns3=SimpleNamespace(__file__=ns3.__file__, compiled=Mock(), run_cell=run_cell),
    ))  # fmt: skip
    assert shown[1] == ["1", "edca_vi_be, 802.11ac", "1.50", "300", "200", "300", "200"]
    assert shown[4] == ["1", "VI", "9.50 ± 0.5", "10.00", "10.50"]
    assert [line[:2] for line in shown[5:]] == [["1", "BE"], ["2", "BE"]]
    assert given[0]["g2_traffic"] == "sat" and {"queue", "wire", "g2_rate"}.isdisjoint(given[0])
    assert given[-1]["control"] == "cubic" and "g2_traffic" not in given[-1]
    with pytest.raises(ValueError, match="row 3: MPDU errors"):
        wifi_today.options({"id": 3, "mpdu_error_prob": 0.1, "mcs": 7})
