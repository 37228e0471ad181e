import numpy as np
import pandas as pd
import pytest

from netcarlo.ensemble import build
from netcarlo.kernels.layout import NEVER, Out
from netcarlo.outcomes import MEANING, MOBILE, first_outage_end_s, outcomes
from netcarlo.scenario import Scenario

HOP = {"rate": "1 Mbit/s", "delay": "10 ms"}


def ensemble(hops=(HOP,), transport=None, **values):
    data = {
        "duration": "11 s",
        "transport": transport or {"protocol": "reno", "start": "1 s"},
        "hops": list(hops),
    }
    return build(Scenario.check(data).with_values(values), replications=2)


def integers(**values):
    table = np.zeros((2, len(Out)), np.int64)
    table[:, [Out.FIRST_RX, Out.LAST_RX, Out.RESUME_RX, Out.RESUME_TX, Out.COMPLETED]] = NEVER
    for name, value in values.items():
        table[:, Out[name]] = value
    return table


def test_integers_become_named_quantities_in_si_units():
    e = ensemble([{**HOP, "outages": [{"start": "3 s", "duration": "2 s"}]}])
    found = outcomes(
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
        e.rows,
        e.drawn,
    ).frame.iloc[0]
    assert found["goodput_bps"] == 100 * 1460 * 8 / 10
    assert found["throughput_bps"] == 104 * 1500 * 8 / 10
    assert found["in_flight"] == 110 - 104 - 2 - 1 - 1
    assert found["first_delivery_s"] == 1.1
    assert found["restart_s"] == 0.5
    assert found["mean_cwnd_packets"] == 3.0
    assert found["mean_rtt_s"] == 0.2  # only two samples followed a measurement
    assert np.isnan(found[["last_delivery_s", "resume_rx_s", "completion_s"]]).all()


def test_a_finite_transfer_is_over_when_it_is_completed():
    e = ensemble(transport={"protocol": "reno", "start": "1 s", "packets": 10})
    found = outcomes(integers(IN_ORDER=10, COMPLETED=3_000_000_000), e.rows, e.drawn).frame.iloc[0]
    assert found["completion_s"] == 2.0
    assert found["goodput_bps"] == 10 * 1460 * 8 / 2


def test_sctp_packets_count_their_chunk_header_on_the_wire():
    e = ensemble(transport={"protocol": "sctp"})
    assert outcomes(integers(RECEIVED=1), e.rows, e.drawn).frame["throughput_bps"][0] == pytest.approx(
        1500 * 8 / 11
    )


def test_the_first_outage_is_the_earliest_on_any_hop():
    late = {**HOP, "outages": [{"start": "5 s", "duration": "1 s"}]}
    early = {**HOP, "outages": [{"start": "7 s", "duration": "1 s"}, {"start": "2 s", "duration": "3 s"}]}
    assert first_outage_end_s(ensemble([late, early]).rows).tolist() == [5.0, 5.0]
    assert np.isnan(first_outage_end_s(ensemble().rows)).all()


MOVING = {"mobility": {"protocol": "himipv6", "times": ["3 s"]}, "hops": [HOP, HOP]}


def test_packets_of_mobile_hosts_are_accounted_for():
    e = ensemble(**MOVING)
    found = outcomes(
        integers(
            SENT=110, COPIES=20, RECEIVED=90, DISCARDED=15, DROPS_QUEUE=1, DROPS_RANDOM=2, DROPS_OUTAGE=3,
            DESTROYED=4, DROPS_HANDOVER=5, DROPS_BUFFER=6, BUFFERED=40, REORDERED=7, HANDOVERS=3, PREPARED=2,
            SILENCE=250_000_000, RESUME_TX=3_400_000_000,
        ),
        e.rows,
        e.drawn,
    ).frame.iloc[0]  # fmt: skip
    assert found["in_flight"] == 110 + 20 - 90 - 15 - 1 - 2 - 3 - 4 - 5 - 6
    assert found[["lost_in_handover", "lost_in_buffer", "copies", "discarded"]].tolist() == [5, 6, 20, 15]
    assert found[["handovers", "prepared", "buffered", "reordered"]].tolist() == [3, 2, 40, 7]
    assert (found["longest_silence_s"], found["resume_tx_s"]) == (0.25, 3.4)
    assert np.isnan(found["restart_s"])


def test_what_only_mobile_hosts_have_is_nan_for_others():
    e = ensemble()
    frame = outcomes(integers(), e.rows, e.drawn).frame
    assert frame[[*MOBILE, "longest_silence_s"]].isna().all(axis=None)
    e = ensemble(**MOVING)
    frame = outcomes(integers(), e.rows, e.drawn).frame
    assert (frame[[*MOBILE]] == 0).all(axis=None)
    assert np.isnan(frame["longest_silence_s"]).all()


def test_every_outcome_has_a_meaning_and_drawn_quantities_follow():
    e = ensemble(**{"hops.0.delay": {"uniform": ["1 ms", "9 ms"]}})
    frame = outcomes(integers(), e.rows, e.drawn).frame
    assert list(frame.columns) == [*MEANING, "paths.0.hops.0.delay"]
    assert isinstance(frame.index, pd.Index)
    assert frame.index.name == "replication"
