import numpy as np
import pandas as pd
import pytest

from netcarlo.kernels.base.layout import NEVER, Out
from netcarlo.kernels.wireless.layout import DELAY_BINS, DELAY_LOW
from netcarlo.networks.outcome import Outcome
from netcarlo.networks.path.network import PathNetwork
from netcarlo.networks.path.output import first_outage_end_s
from netcarlo.numerics import statistics
from netcarlo.scenario import Scenario
from netcarlo.simulation.ensemble import build
from netcarlo.simulation.outcomes import BY_NAME, MEANING, OUTCOMES, Outcomes, outcomes
from netcarlo.simulation.simulate import simulate

HOP = {"rate": "1 Mbit/s", "delay": "10 ms"}


def ensemble(hops=(HOP,), transport=None, **values):
    data = {
        "duration": "11 s",
        "transport": transport or {"protocol": "reno", "start": "1 s"},
        "hops": list(hops),
    }
    return build(Scenario.check(data).with_values(values), replications=2)


def named(e, table) -> Outcomes:
    """Return the outcomes of a path; its rows determine them, except for the class of a flow."""
    return outcomes(PathNetwork.model_construct(word=""), table, *e)


def integers(**values):
    table = np.zeros((2, len(Out)), np.int64)
    table[:, [Out.FIRST_RX, Out.LAST_RX, Out.RESUME_RX, Out.RESUME_TX, Out.COMPLETED]] = NEVER
    for name, value in values.items():
        table[:, Out[name]] = value
    return table


def test_integers_become_named_quantities_in_si_units():
    e = ensemble([{**HOP, "outages": [{"start": "3 s", "duration": "2 s"}]}])
    found = named(
        e,
        integers(
            IN_ORDER=100,
            DELIVERED=101,
            RECEIVED=104,
            SENT=110,
            DROPS_QUEUE=2,
            DROPS_RANDOM=1,
            DESTROYED=1,
            FIRST_RX=1_100_000_000,
            RESUME_TX=5_500_000_000,
            CWND_SUM=3 * 1024 * 4,
            RTT_SUM=4 * 10**8,
            SAMPLES=4,
            RTT_SAMPLES=2,
        ),
    ).frame.iloc[0]
    assert found["goodput_bps"] == 100 * 1460 * 8 / 10
    assert found["throughput_bps"] == 104 * 1500 * 8 / 10
    assert found["in_flight"] == 110 - 104 - 2 - 1 - 1
    assert found["first_delivery_s"] == 1.1
    assert found["restart_s"] == 0.5
    assert found["mean_cwnd_packets"] == 3.0
    assert found["mean_rtt_s"] == 0.2  # only two samples followed a measurement
    assert np.isnan(found[["last_delivery_s", "resume_rx_s", "completion_s"]]).all()


def test_sums_of_samples_outgrow_a_word():
    """Sums of samples fit: ten days of a round trip of four hours, sampled every second, exceed 2**63 ns."""
    data = {
        "duration": "864000 s",
        "sample_interval": "1 s",
        "transport": {"protocol": "newreno", "max_rto": "86400 s"},
        "hops": [{"rate": "1 Mbit/s", "delay": "3600 s"}] * 2,
    }
    found = simulate(Scenario.check(data), replications=1, target="cpu")
    assert found.integers[0, Out.RTT_SUM_HIGH] == 1
    assert found.frame["mean_rtt_s"][0] == pytest.approx(14400, rel=1e-5)


def test_a_finite_transfer_is_over_when_it_is_completed():
    e = ensemble(transport={"protocol": "reno", "start": "1 s", "packets": 10})
    found = named(e, integers(IN_ORDER=10, COMPLETED=3_000_000_000)).frame.iloc[0]
    assert found["completion_s"] == 2.0
    assert found["goodput_bps"] == 10 * 1460 * 8 / 2


def test_sctp_packets_count_their_chunk_header_on_the_wire():
    e = ensemble(transport={"protocol": "sctp"})
    assert named(e, integers(RECEIVED=1)).frame["throughput_bps"][0] == pytest.approx(
        1500 * 8 / 11
    )


def test_the_first_outage_is_the_earliest_on_any_hop():
    late = {**HOP, "outages": [{"start": "5 s", "duration": "1 s"}]}
    early = {**HOP, "outages": [{"start": "7 s", "duration": "1 s"}, {"start": "2 s", "duration": "3 s"}]}
    assert first_outage_end_s(ensemble([late, early]).rows).tolist() == [5.0, 5.0]
    assert np.isnan(first_outage_end_s(ensemble().rows)).all()


MOBILE = (
    "handovers", "prepared", "false_alarms", "lost_in_handover", "lost_in_buffer", "buffered", "tunnelled",
    "copies", "discarded", "reordered",
)  # fmt: skip
MOVING = {"mobility": {"protocol": "himipv6", "times": ["3 s"]}, "hops": [HOP, HOP]}


def test_packets_of_mobile_hosts_are_accounted_for():
    e = ensemble(**MOVING)
    found = named(
        e,
        integers(
            SENT=110, COPIES=20, RECEIVED=90, DISCARDED=15, DROPS_QUEUE=1, DROPS_RANDOM=2, DROPS_OUTAGE=3,
            DESTROYED=4, DROPS_HANDOVER=5, DROPS_BUFFER=6, BUFFERED=40, REORDERED=7, HANDOVERS=3, PREPARED=2,
            SILENCE=250_000_000, RESUME_TX=3_400_000_000,
        ),
    ).frame.iloc[0]  # fmt: skip
    assert found["in_flight"] == 110 + 20 - 90 - 15 - 1 - 2 - 3 - 4 - 5 - 6
    assert found[["lost_in_handover", "lost_in_buffer", "copies", "discarded"]].tolist() == [5, 6, 20, 15]
    assert found[["handovers", "prepared", "buffered", "reordered"]].tolist() == [3, 2, 40, 7]
    assert (found["longest_silence_s"], found["resume_tx_s"]) == (0.25, 3.4)
    assert np.isnan(found["restart_s"])


def test_what_only_mobile_hosts_have_is_nan_for_others():
    e = ensemble()
    frame = named(e, integers()).frame
    assert frame[[*MOBILE, "longest_silence_s"]].isna().all(axis=None)
    e = ensemble(**MOVING)
    frame = named(e, integers()).frame
    assert (frame[[*MOBILE]] == 0).all(axis=None)
    assert np.isnan(frame["longest_silence_s"]).all()


def test_every_outcome_has_a_meaning_and_drawn_quantities_follow():
    e = ensemble(**{"hops.0.delay": {"uniform": ["1 ms", "9 ms"]}})
    frame = named(e, integers()).frame
    own = [outcome.name for outcome in PathNetwork.outcomes if outcome.name in frame]
    assert list(frame.columns) == [*own, "paths.0.hops.0.delay"]  # in order, and none of another network
    assert len(own) > 30
    assert isinstance(frame.index, pd.Index)
    assert frame.index.name == "replication"


def test_every_outcome_declares_which_way_it_is_better():
    assert {outcome.better for outcome in OUTCOMES} == {"more", "less", None}
    assert list(BY_NAME) == list(MEANING)  # names are unique
    with pytest.raises(TypeError, match="better"):
        Outcome("new", meaning="an outcome that leaves it open")
    less = ("completion_p95_s", "completion_mean_s", "drop_ratio", "longest_wait_s", "loss_ratio", "energy_J")
    more = ("goodput_bps", "worst_flow_bps", "vegas_bps", "fairness", "utilisation", "completed_share")
    neither = ("sent", "in_flight", "handshakes", "mean_cwnd_packets", "attempts", "mean_degree")
    assert {BY_NAME[name].better for name in less} == {"less"}
    assert {BY_NAME[name].better for name in more} == {"more"}
    assert {BY_NAME[name].better for name in neither} == {None}


def test_intervals_end_where_an_outcome_cannot_go_on():
    few = np.array([[0.0] * 18 + [40.0, 80.0]])
    timeouts = BY_NAME["timeouts"]
    free, found = statistics.means(few), timeouts.means(few)
    assert free.ci_low[0] < 0 == found.ci_low[0]
    assert found.ci_high[0] == free.ci_high[0]
    assert timeouts.differences(-few).ci_high[0] == -free.ci_low[0]  # a difference may have any sign
    near = np.array([[1.0] * 18 + [0.2, 0.5]])
    assert statistics.means(near).ci_high[0] > 1 == BY_NAME["fairness"].means(near).ci_high[0]
    late = BY_NAME["restart_s"]
    assert late.means(few).ci_low[0] == free.ci_low[0]  # may be negative
    control = statistics.Mean(20, -0.1, 1.0, -0.4, 0.2)
    assert timeouts.inside(control) == statistics.Mean(20, 0.0, 1.0, 0.0, 0.2)


def test_yes_or_no_has_wilsons_interval():
    found = BY_NAME["finished"].means(np.array([[0.0] * 10, [1.0] * 9 + [0.0]]))
    low, high = statistics.wilson([0.0, 0.9], [10, 10])
    assert found.ci_low.tolist() == low.tolist()
    assert found.ci_high.tolist() == high.tolist()
    assert found.ci_high[0] > 0.2  # 0 of 10 does not prove a probability of 0


def test_bounds_cost_no_coverage():
    # Rare events: n Poisson counts of mean 0.05 to 1.  An interval misses the truth exactly where the one
    # without bounds does: so 20,000 intervals show what the difference of their coverages is, without error.
    random = np.random.default_rng(1)
    missed = 0
    for truth, n in [(0.05, 20), (0.2, 8), (0.5, 5), (1.0, 5)]:
        values = random.poisson(truth, (5000, n)).astype(float)
        free, found = statistics.means(values), BY_NAME["timeouts"].means(values)
        assert found.ci_low.min() >= 0 > free.ci_low.min()
        covers = (found.ci_low <= truth) & (truth <= found.ci_high)
        np.testing.assert_array_equal(covers, (free.ci_low <= truth) & (truth <= free.ci_high))
        missed += np.sum(~covers)
    assert missed > 100


def test_a_quantile_of_the_delay_says_its_resolution():
    for name in ("delay_p50_s", "delay_p95_s", "delay_p99_s"):
        assert "in a bin 12 to 25 % of it wide" in MEANING[name]
    edges = 2.0 ** (DELAY_LOW + np.arange(DELAY_BINS + 1) // 4) * (1 + np.arange(DELAY_BINS + 1) % 4 / 4)
    width = np.diff(edges)
    assert (width / edges[1:]).min() == 0.125
    assert (width / edges[:-1]).max() == 0.25
