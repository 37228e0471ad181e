"""Outages of an access point, from a scenario to its outcomes: known answers, times, refusals."""

import numpy as np
import pytest

from netcarlo import InputError, simulate
from netcarlo.scenario import Scenario
from netcarlo.simulation.interruptions import interruptions

UDP = {"rate": "1 Mbit/s", "payload": "1200 B"}


def cell(outages, *, standard="802.11g", **fields):
    up = {"source": "station", "class": "up", "udp": UDP}
    down = {"source": "gateway", "sink": "station", "class": "down", "udp": UDP}
    return Scenario.check({
        "duration": "5 s", "warm_up": "1 s", "replications": 4, "transport": {"protocol": "sack"},
        "wireless": {
            "standard": standard, "cell": {"stations": 1}, "outages": outages,
            "flows": [{"count": 1, "each": up}, {"count": 1, "each": down}],
        },
    } | fields)  # fmt: skip


@pytest.mark.full
@pytest.mark.parametrize(("standard", "least", "most"), [("802.11g", 0.1, 0.25), ("802.11ax", 0, 0.01)])
def test_what_comes_to_it_while_it_is_down_is_lost_and_stations_try_in_vain(standard, least, most):
    """The access point is down for a quarter of the window; frames are dropped after seven attempts,
    within milliseconds. With Block Ack the station repeats its BlockAckReq, and data wait in its queue."""
    outage, udp = {"start": "2 s", "duration": "1 s"}, {"protocol": "udp", **UDP}
    frame = simulate(cell([outage], standard=standard, transport=udp), target="cpu").frame
    assert frame.down_loss_ratio.to_numpy() == pytest.approx(0.25, abs=0.003)
    assert frame.down_mean_flow_bps.to_numpy() == pytest.approx(0.75e6, rel=0.01)
    assert (frame.retry_drops > 0).all() and (frame.collisions == 0).all()
    # Packets still in its own queue when the access point is back arrive late.
    assert (frame.up_loss_ratio > least).all() and (frame.up_loss_ratio < most).all()
    assert (frame.up_delay_p99_s > 10 * frame.down_delay_p99_s).all()


@pytest.mark.full
def test_random_outages_take_their_share_of_the_time():
    asked = cell({"up": "3 s", "down": "1 s"}, duration="201 s", replications=16)
    frame = simulate(asked, target="cpu").frame
    assert frame.down_loss_ratio.mean() == pytest.approx(0.25, abs=0.02)
    down = sum(each.end_s - each.start_s for each in interruptions(asked))
    assert 20 < down < 80
    assert np.ptp(frame.down_loss_ratio) > 0.02


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"outages": {"up": "1 ms", "down": "1 ms"}}, "outages can be up to 2500 on average; expected"),
        ({"outages": [], "fidelity": "fluid"}, "does not support delays"),
        ({"outages": {"start": "2 s"}}, "is one outage, not a list"),
    ],
)
def test_what_there_cannot_be_is_refused(change, said):
    with pytest.raises(InputError) as error:
        simulate(cell(**change), target="cpu")
    assert said in str(error.value) and "\n" not in str(error.value)
