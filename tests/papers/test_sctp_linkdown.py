"""The link-down study against its paper, and the machinery that judges it."""

from collections import Counter

import numpy as np
import pytest

from netcarlo.cells import Cell
from netcarlo.comparison import Compared, check, shows
from netcarlo.evaluation import Evaluation, evaluate
from netcarlo.kernels.layout import EVENT_RECEIVE, Out, Trace
from netcarlo.statistics import mean
from netcarlo.study import Published, load

HELD = {"A1", "A2", "B1", "B2", "B3", "B4", "B5", "C1", "C2", "D1", "D2", "D4"}


@pytest.fixture(scope="module")
def evaluation() -> Evaluation:
    return evaluate(load("sctp_linkdown"), replications=20, target="cpu")


def rows(evaluation: Evaluation, metric: str) -> list[Compared]:
    return [row for row in evaluation.rows if row.published.metric == metric]


def test_published_numbers_are_all_there() -> None:
    published = load("sctp_linkdown").published
    tables = Counter(number.place["table"] for number in published if number.metric == "utilisation")
    assert tables == {"3": 9, "5": 12, "6": 42, "7": 30}
    assert Counter(number.kind for number in published) == {"printed": 144, "read_off": 8, "claim": 6}


def test_utilisation_shows_the_printed_digits(evaluation: Evaluation) -> None:
    cells = rows(evaluation, "utilisation")
    misses = [row.published for row in cells if not row.matches_printed]
    assert len(cells) == 93
    assert len(misses) <= 3, misses


def test_throughput_within_three_permille(evaluation: Evaluation) -> None:
    numbers = rows(evaluation, "throughput")
    unexplained = [row for row in numbers if row.left_out]
    (left_out,) = (row.published.conditions for row in unexplained)
    assert (left_out["protocol"], left_out["link_down_s"]) == ("tcp", 20.0)
    assert len(numbers) == 13
    for row in numbers:
        assert row.left_out or abs(row.rel_error) <= 0.003, (row.published, row.estimate)


def test_trace_of_figure_7(evaluation: Evaluation) -> None:
    excerpts = ("fig7a", "fig7b", "table4")
    shown = {
        row.published.metric
        for row in evaluation.rows
        if row.published.place["figure_or_section"] in excerpts and row.matches_printed
    }
    assert shown == {
        "last_ack_before_down", "last_acked_seq", "highest_seq_sent_before_down", "retransmitted_seq",
        "seq_dequeued_just_before_down", "packets_lost_at_link_down", "last_sack_before_down",
        "last_cum_tsn_before_down", "highest_tsn_sent_before_down", "retransmitted_tsn",
    }  # fmt: skip


def test_averages_follow_the_same_way(evaluation: Evaluation) -> None:
    for metric, printed in (
        ("gain_multi_over_tcp_by_link_down_time", 18),
        ("gain_multi_over_tcp_by_rtt", 27),
    ):
        (row,) = rows(evaluation, metric)
        assert row.estimate is not None and int(row.estimate.mean) == printed
    (row,) = rows(evaluation, "gain_multi_over_tcp_by_bandwidth")
    assert row.estimate is None and "Not derivable" in row.note


def test_claims(evaluation: Evaluation) -> None:
    verdicts = {claim.id: claim.verdict for claim in evaluation.claims}
    assert verdicts == {**dict.fromkeys(HELD, "held"), "D3": "not derivable", "D5": "not derivable"}


def test_tolerance_is_met(evaluation: Evaluation) -> None:
    assert evaluation.passed, [demand for demand in evaluation.checks if not demand.passed]


def test_tolerance_notices_a_wrong_number(evaluation: Evaluation) -> None:
    wrong = [
        Compared(
            row.published,
            row.estimate and row.estimate._replace(mean=row.estimate.mean * 1.01),
            "",
            "",
            False,
        )
        for row in evaluation.rows
    ]
    assert [
        demand.passed for demand in check(evaluation.study, wrong, evaluation.claims, evaluation.cells)
    ] == [
        False,
        False,
        True,
    ]
    missing = [Compared(row.published, None, "", "", False) for row in evaluation.rows]
    assert not any(demand.passed for demand in check(evaluation.study, missing, [], evaluation.cells)[:2])


def test_table_4_disagrees_with_the_papers_own_throughput(evaluation: Evaluation) -> None:
    for metric in ("retransmission_enqueued", "retransmission_enqueued_alternate_path"):
        (row,) = rows(evaluation, metric)
        assert row.estimate is not None and not row.matches_printed
        assert row.published.value - row.estimate.mean == pytest.approx(0.4, abs=1e-4)
        assert "disagrees with itself" in row.note


def test_replications_are_paired_and_reproducible(evaluation: Evaluation) -> None:
    again = evaluate(load("sctp_linkdown"), replications=2, target="cpu")
    for ours, theirs in zip(again.cells.all, evaluation.cells.all, strict=True):
        assert ours.conditions == theirs.conditions
        np.testing.assert_array_equal(ours.outcomes, theirs.outcomes[:2])


def test_trace_and_launch_agree(evaluation: Evaluation) -> None:
    for cell in evaluation.cells.where(link_down_s=10.0, paper_rtt_ms=200.0, bandwidth_mbps=0.5):
        assert received(cell) == cell.outcomes[0, Out.RECEIVED]


def received(cell: Cell) -> int:
    events = cell.trace()
    data = events[:, Trace.SEQUENCE] >= 1  # 0 is the SYN
    return int((data & (events[:, Trace.EVENT] == EVENT_RECEIVE)).sum())


@pytest.mark.parametrize(
    ("text", "step", "value", "match"),
    [
        ("0.123", 0.001, 0.1234, True),  # both
        ("0.123", 0.001, 0.1236, True),  # cut off
        ("0.123", 0.001, 0.1225, True),  # rounded
        ("0.123", 0.001, 0.12249, False),
        ("0.123", 0.001, 0.124, False),
        ("46778", 1, 46778.99, True),
        ("46778", 1, 46777.4, False),
        ("61000", 1000, 61999, True),
        ("61000", 1000, 60499, False),
        ("7.0", 0.1, 6.9999999999, True),
    ],
)
def test_printed_digits(text: str, step: float, value: float, match: bool) -> None:
    number = Published(place={}, conditions={}, metric="m", unit="", text=text, step=step, kind="printed")
    assert shows(value, number) is match
    assert Compared(number, mean([value]), "", "", False).matches_printed is match
