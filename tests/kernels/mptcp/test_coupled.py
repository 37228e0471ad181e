"""Coupled congestion controls of MPTCP: growth by RFC 6356 and the papers, and published fixed points."""

from collections.abc import Sequence
from fractions import Fraction
from math import sqrt
from typing import Any

import numpy as np
import pytest

from netcarlo import simulate
from netcarlo.kernels.base.layout import Out
from netcarlo.kernels.linux.state import FIRST, Tcp
from netcarlo.kernels.mptcp.coupled import balia, lia, olia
from netcarlo.kernels.mptcp.coupled.control import Algorithm
from netcarlo.kernels.mptcp.coupled.peers import END, PEERS, Coupled, Peer
from tests.kernels.beside_twin import run_as_python
from tests.kernels.mptcp.test_mptcp import of_subflows, rows

pytestmark = pytest.mark.filterwarnings("ignore:overflow")

Paths = Sequence[tuple[int, int]]
"""Window [packets] and RTT [us] of each subflow."""
PATHS: Paths = [(40, 30_000), (11, 80_000), (25, 20_000), (7, 200_000)]


def seen_by(own: int, paths: Paths, intervals: Sequence[int] = (0, 0, 0, 0)) -> Any:
    """Return the scratch of a subflow with the state of the other subflows."""
    s = np.zeros(END, np.int64)
    s[Tcp.CWND], s[Tcp.SRTT_US] = paths[own][0], 8 * paths[own][1]
    s[Tcp.SSTHRESH], s[Coupled.COUNT] = paths[own][0], len(paths) - 1
    s[Tcp.SND_UNA] = FIRST + intervals[own]
    s[Coupled.LOSS_1] = s[Coupled.LOSS_2] = FIRST
    others = [k for k in range(len(paths)) if k != own]
    for place, k in enumerate(others):
        at = PEERS + Peer.SIZE * place
        s[at : at + Peer.SIZE] = paths[k][0], 8 * paths[k][1], intervals[k]
    return s


def rate(paths: Paths) -> Fraction:
    return sum((Fraction(w, rtt) for w, rtt in paths), Fraction(0))


@pytest.mark.parametrize("own", range(4))
def test_lia_grows_as_rfc_6356_says(own: int) -> None:
    total = sum(w for w, _ in PATHS)
    alpha = total * max(Fraction(w, rtt * rtt) for w, rtt in PATHS) / rate(PATHS) ** 2
    growth = min(alpha / total, Fraction(1, PATHS[own][0]))
    assert lia.acked_per_increase(seen_by(own, PATHS)) == pytest.approx(float(1 / growth), rel=0.01, abs=1)


@pytest.mark.parametrize("own", range(4))
def test_balia_changes_the_window_as_published(own: int) -> None:
    w, rtt = PATHS[own]
    alpha = max(Fraction(*path) for path in PATHS) / Fraction(w, rtt)
    growth = Fraction(w, rtt * rtt) / rate(PATHS) ** 2 * (1 + alpha) / 2 * (4 + alpha) / 5
    s = seen_by(own, PATHS)
    assert balia.acked_per_increase(s) == pytest.approx(float(1 / growth), rel=0.01, abs=1)
    cut = Fraction(w, 2) * min(alpha, Fraction(3, 2))
    assert balia.ssthresh(s) == pytest.approx(max(float(w - cut), 2), abs=1)


@pytest.mark.parametrize(
    ("own", "intervals", "alpha"),
    [
        (0, (900, 1, 1, 1), 0),  # the best subflow has the largest window
        (0, (1, 1, 900, 1), -Fraction(1, 4)),  # window moves from the largest
        (2, (1, 1, 900, 1), Fraction(1, 4)),  # to the best
        (1, (1, 1, 900, 1), 0),
    ],
)
def test_olia_moves_windows_to_paths_with_few_losses(
    own: int, intervals: Sequence[int], alpha: Fraction | int
) -> None:
    w, rtt = PATHS[own]
    s, acked = seen_by(own, PATHS, intervals), 10
    olia.grow(s, np.int64(acked))
    growth = acked * (Fraction(w, rtt * rtt) / rate(PATHS) ** 2 + Fraction(alpha) / w)
    changed = s[Tcp.CWND] - w + s[Coupled.GROWTH] / 2**20
    assert changed == pytest.approx(float(growth), rel=0.01, abs=1e-4)


def test_a_window_that_olia_shrinks_does_not_start_slowly_again() -> None:
    s = seen_by(0, [(40, 50_000), (39, 50_000)], (1, 900))
    olia.grow(s, np.int64(400))
    assert s[Tcp.CWND] < 40 and s[Tcp.SSTHRESH] == s[Tcp.CWND]


@pytest.mark.parametrize("algorithm", [Algorithm.LIA, Algorithm.BALIA])
def test_a_single_subflow_is_reno(algorithm: Algorithm) -> None:
    alone = rows(SUBFLOWS=1, COUPLING=algorithm)
    coupled, reno = (run_as_python(f"mptcp_{control}", alone)[0] for control in ("coupled", "reno"))
    assert reno[Out.CWND_CUTS] > 3 and (coupled == reno).all()


def test_data_travel_over_four_paths() -> None:
    table = rows(
        rates=(2e6, 1e6, 2e6, 1e6), delays=(0.01, 0.02, 0.03, 0.04), SUBFLOWS=4, COUPLING=Algorithm.OLIA,
        WINDOW=4000,
    )  # fmt: skip
    out = run_as_python("mptcp_coupled", table)[0]
    delivered = of_subflows(out)[3:]
    assert len(delivered) == 4 and delivered.min() > 0.1 * delivered.sum()
    assert delivered.sum() == out[Out.DELIVERED]
    assert out[Out.DELIVERED] * 1424 * 8 / 10 > 0.8 * 6e6


LOSS = 0.004


def over(losses: Sequence[float], **transport: Any) -> Any:
    """Return the mean outcomes over fast paths with these losses and a round-trip time of 50 ms."""
    hops = [[{"rate": "1 Gbit/s", "delay": "25 ms", "queue": 2000, "loss": loss}] for loss in losses]
    data = {
        "duration": "200 s", "replications": 16, "transport": transport, "paths": [{"hops": h} for h in hops],
    }  # fmt: skip
    return simulate(data, target="cpu").frame.mean()


@pytest.mark.full
@pytest.mark.parametrize("control", ["lia", "olia", "balia"])
def test_together_they_take_what_one_tcp_takes(control: str) -> None:
    """Test the published fixed point with equal losses: the windows add up to sqrt(2 / p), that of one TCP.

    The fixed point is a limit for large windows. Windows of four subflows have 6 packets each, for which it
    is 9 to 18 % too low, so that only their goodput is tested.
    """
    tcp = over([LOSS], protocol="linux", congestion_control="reno", payload="1424 B", header="76 B")
    two, four = (over([LOSS] * n, protocol="mptcp", congestion_control=control) for n in (2, 4))
    assert two.mean_cwnd_packets == pytest.approx(sqrt(2 / LOSS), rel=0.15)
    assert max(two.goodput_bps, four.goodput_bps) < 1.15 * tcp.goodput_bps


@pytest.mark.full
def test_windows_of_lia_are_inversely_proportional_to_losses() -> None:
    """Test RFC 6356, section 3: windows are proportional to 1 / p, with the sum of a TCP on the best path."""
    found = over([0.002, 0.008], protocol="mptcp", congestion_control="lia")
    assert found.subflow_1_bps / found.subflow_2_bps == pytest.approx(4, rel=0.2)
    assert found.mean_cwnd_packets == pytest.approx(sqrt(2 / 0.002), rel=0.15)
