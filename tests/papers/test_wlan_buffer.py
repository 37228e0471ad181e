"""Study of sender buffers over 802.11g, compared with its paper."""

from collections import Counter

import numpy as np
import pytest

from netcarlo.kernels.base.parameters import TcpP
from netcarlo.reports.study import runs as study_runs
from netcarlo.studies.evaluation import Evaluation
from netcarlo.studies.judging import gain, printed
from netcarlo.studies.study import load
from netcarlo.studies.wlan_buffer import metrics
from netcarlo.studies.wlan_buffer.claims import rises, thresholds
from tests.studies.reproductions import reproduction

TRIED = {
    1: (16, 24, 32, 64),
    5: (32, 64, 80, 96, 128, 256),
    10: (64, 96, 128, 160, 256),
    20: (64, 96, 128, 256),
}


@pytest.fixture(scope="module")
def evaluation() -> Evaluation:
    return reproduction("wlan_buffer")[1]


def test_published_numbers_are_all_there() -> None:
    published = load("wlan_buffer").published
    counts = Counter(number.metric for number in published)
    assert counts["throughput_avg"] == 21 and counts["throughput_max"] == 17
    assert counts["mbt"] == 4 and counts["gain"] == 3
    assert sum(number.place["table"] == "2" for number in published) == 30


def test_the_papers_own_numbers_follow_from_its_averages() -> None:
    numbers = metrics.averages(printed(load("wlan_buffer")))
    assert {rtt: metrics.buffer_threshold(numbers, rtt, TRIED[rtt]) for rtt in TRIED} == metrics.PUBLISHED_MBT
    gains = [float(gain(numbers(rtt, 96), numbers(rtt, 64))[0]) for rtt in (5, 10, 20)]
    np.testing.assert_allclose(gains, [20.3, 21.4, 45.4], atol=0.06)
    a, b = (float(value[0]) for value in metrics.regression(numbers, shift=1))
    assert (round(a, 3), round(b, 4)) == (29.372, 0.0253)
    assert float(metrics.regression(numbers, shift=0)[0][0]) == pytest.approx(28.64, abs=0.005)
    assert float(metrics.predicted(numbers, 50, consistent=False)[0]) == pytest.approx(8.32, abs=0.02)
    assert float(metrics.predicted(numbers, 50, consistent=True)[0]) == pytest.approx(8.09, abs=0.02)
    assert thresholds(numbers, TRIED).verdict == rises(numbers, TRIED).verdict == "held"


def test_a_buffer_suffices_within_one_per_cent_of_the_two_largest() -> None:
    averages = {16: 98.4, 32: 98.6, 64: 100.0, 128: 99.0}
    assert metrics.buffer_threshold(lambda _, kb: np.array([averages[kb]]), 1, tuple(averages)) == 32


@pytest.mark.full
def test_conditions_reach_the_kernel(evaluation: Evaluation) -> None:
    for cell in evaluation.cells.all:
        wireless = cell.scenario.wireless
        assert wireless is not None
        delay = wireless.sender_delay
        assert (delay is None) == (cell["rtt_ms"] == 1)  # no delay element at 1 ms
        assert delay is None or delay.tick == 0.004
        assert delay is None or delay.delay == pytest.approx((cell["rtt_ms"] - 1) * 1e-3)  # nothing fitted
    rooms = {cell["buffer_kb"]: cell.parameter(TcpP.SEND_BUFFER) for cell in evaluation.cells.all}
    assert sorted(rooms.values()) == [rooms[kb] for kb in sorted(rooms)]
    for cell in evaluation.cells.where(buffer_kb=64.0):
        assert cell.parameter(TcpP.SEND_WAKE) == pytest.approx(
            cell.parameter(TcpP.SEND_BUFFER) * 2 / 3, abs=1
        )


@pytest.mark.full
def test_the_best_second_is_above_the_average(evaluation: Evaluation) -> None:
    for cell in evaluation.cells.all:
        best, average = (evaluation.cells.samples(f"throughput_{m}", cell) for m in ("max", "avg"))
        assert (best >= average).all()


@pytest.mark.full
def test_runs_are_drawn_second_by_second_beside_the_published_averages(evaluation: Evaluation) -> None:
    figure = next(one for one in evaluation.study.description.traces if one.figure == "4")
    drawn = study_runs.over_time(evaluation, figure)["data"]
    runs = [line for line in drawn if len(line["x"]) > 2]
    assert [line["name"] for line in runs] == ["96 KB", "1024 KB"]
    cell = evaluation.cells.one(rtt_ms=50.0, buffer_kb=96.0)
    mean = float(np.mean(runs[0]["y"][:30]))
    assert mean == pytest.approx(evaluation.cells.samples("throughput_avg", cell)[0], rel=0.002)
    assert [line["y"][0] for line in drawn if len(line["x"]) == 2] == [8.08, 6.83]


@pytest.mark.full
def test_claims_of_the_paper_hold_for_its_own_numbers(evaluation: Evaluation) -> None:
    own = {claim.id: claim.own for claim in evaluation.claims}
    assert own == {
        **dict.fromkeys(("B1", "B2", "B3", "B4", "B5", "B6", "B7", "B8"), "held"),
        "B9": None,
        "B10": None,
        "B11": "held",
        "B12": "held",
    }


def test_the_threshold_has_the_range_that_the_runs_leave_open() -> None:
    """Few runs do not decide whether 96 KB, 0.9 % below the plateau, counts as on it (1 %)."""
    noise = np.array([-0.3, 0.3, -0.2, 0.2])
    flat = {64: 90 + noise, 96: 99.1 + noise, 128: 100 - noise, 256: 100 - noise}
    found = metrics.threshold_interval(lambda _, kb: flat[kb], 20, tuple(flat))
    assert (found.mean, found.ci_low, found.ci_high) == (96, 96, 128)
    clear = flat | {96: 100 + noise}
    found = metrics.threshold_interval(lambda _, kb: clear[kb], 20, tuple(clear))
    assert (found.mean, found.ci_low, found.ci_high) == (96, 96, 96)
