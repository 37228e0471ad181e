"""HyStart++ by RFC 9406: when conservative slow start begins, how it grows, and how it ends."""

from typing import Any

import numpy as np
import pytest

from netcarlo.errors import InputError
from netcarlo.kernels import models
from netcarlo.kernels.base.layout import Out
from netcarlo.kernels.base.parameters import LinuxP, RowP
from netcarlo.kernels.linux import hystartpp, slow_start
from netcarlo.kernels.linux.hystartpp import HystartPlus
from netcarlo.kernels.linux.slow_start import SlowStart
from netcarlo.kernels.linux.state import INFINITE, Tcp
from netcarlo.kernels.runtime import launch
from netcarlo.scenario import Scenario
from netcarlo.simulation.ensemble import build
from tests.kernels.linux.test_linux import HOPS, row_of, scratch

BASE, RISE = 40_000, 5000


def watched() -> Any:
    """Return an association in its first slow start."""
    _, s = scratch()
    s[Tcp.SSTHRESH], s[Tcp.CWND] = INFINITE, 100
    slow_start.reset(s, np.int64(0))
    return s


def a_round(s: Any, rtt: int, acks: int = 8) -> None:
    """Process the ACKs of a round with this round-trip time [us]; the first of them starts the round."""
    s[Tcp.SND_UNA], s[Tcp.SND_NXT] = s[Tcp.SND_NXT] + 1, s[Tcp.SND_NXT] + 101
    for _ in range(acks):
        hystartpp.on_rtt_sample(s, np.int64(rtt))


@pytest.mark.parametrize(
    ("base", "rise", "begins"),
    [(40_000, 5000, True), (40_000, 4999, False), (8000, 4000, True), (8000, 3999, False),
     (400_000, 16_000, True), (400_000, 15_999, False)],
)  # fmt: skip
def test_a_rise_by_an_eighth_of_4_to_16_ms_begins_conservative_slow_start(
    base: int, rise: int, begins: bool
) -> None:
    s = watched()
    a_round(s, base)
    a_round(s, base + rise, acks=7)
    assert s[HystartPlus.CSS_ROUND] == 0  # seven RTT samples are too few for a decision
    hystartpp.on_rtt_sample(s, np.int64(base + rise))
    assert (s[HystartPlus.CSS_ROUND] == 1) == begins


def test_conservative_slow_start_grows_by_a_packet_per_four_acknowledged() -> None:
    s = watched()
    assert hystartpp.growth(s, 5) == 5 and hystartpp.growth(s, 20) == hystartpp.L
    a_round(s, BASE)
    a_round(s, BASE + RISE)
    packets = [2] * 50 + [1, 3, 8, 1, 5, 2]
    assert sum(hystartpp.growth(s, n) for n in packets) == sum(packets) // 4


def test_slow_start_goes_on_when_round_trips_fall_again() -> None:
    s = watched()
    for rtt in (BASE, BASE + RISE, BASE + RISE, BASE + RISE - 1):
        a_round(s, rtt)
    assert s[HystartPlus.CSS_ROUND] == 0 and s[Tcp.SSTHRESH] == INFINITE
    assert hystartpp.growth(s, 4) == 4


def test_slow_start_ends_after_five_rounds_that_stay_so() -> None:
    s = watched()
    a_round(s, BASE)
    for number in range(1, 6):
        a_round(s, BASE + RISE)
        assert s[HystartPlus.CSS_ROUND] == number and s[Tcp.SSTHRESH] == INFINITE
    a_round(s, BASE + RISE)
    assert s[Tcp.SSTHRESH] == s[Tcp.CWND]


def test_after_a_loss_it_is_not_used() -> None:
    s = watched()
    s[Tcp.SSTHRESH] = 200
    a_round(s, BASE)
    a_round(s, 10 * BASE)
    assert s[HystartPlus.CSS_ROUND] == 0


@pytest.mark.full
@pytest.mark.parametrize("name", ["tcp_linux_reno", "tcp_linux_cubic"])
def test_it_loses_fewer_packets_than_standard_slow_start(name: str) -> None:
    """Compare losses with those of standard slow start, for a queue of three bandwidth-delay products."""
    losses, delivered = {}, {}
    for way in (SlowStart.STANDARD, SlowStart.HYSTARTPP):
        row = row_of(SLOW_START=way, LIMIT=3000)
        row.hops[0, 0, 0, :3] = 400 << 20, 20_000_000, 280
        row.parameters[0, RowP.END] = 5_000_000_000
        out = launch.run(models.model(name), row)[0]
        losses[way], delivered[way] = out[Out.DROPS_QUEUE], out[Out.DELIVERED]
    assert losses[SlowStart.STANDARD] > 300 > 3 * losses[SlowStart.HYSTARTPP]
    assert min(delivered.values()) == 3000


def test_scenarios_say_it_and_bbr_has_none() -> None:
    transport = {"protocol": "linux", "congestion_control": "reno", "slow_start": "hystart++"}
    scenario = Scenario.check({"duration": "3 s", "transport": transport, "hops": HOPS})
    assert (build(scenario).rows.parameters[:, LinuxP.SLOW_START] == SlowStart.HYSTARTPP).all()
    transport["congestion_control"] = "bbr"
    with pytest.raises(InputError, match="slow_start does not apply to bbr"):
        Scenario.check({"duration": "3 s", "transport": transport, "hops": HOPS})
