"""The formula of finite transfers over a path, beside packets and beside numbers by hand."""

from typing import Any

import numpy as np
import pytest

from netcarlo.errors import InputError
from netcarlo.numerics.arrays import Floats
from netcarlo.scenario import Scenario
from netcarlo.simulation import ignored_fields
from netcarlo.simulation.simulate import simulate

HOP: dict[str, Any] = {"rate": "12 Mbit/s", "delay": "50 ms", "queue": 1000}
LINUX: dict[str, Any] = {
    "protocol": "linux", "congestion_control": "cubic", "header": "40 B", "payload": "1460 B"
}  # fmt: skip


def scenario(fidelity: str = "formula", hop: dict[str, Any] = HOP, **transport: Any) -> Scenario:
    """Return a transfer over one hop, on which a data packet takes 1 ms."""
    found = {"duration": "60 s", "fidelity": fidelity, "transport": LINUX | transport, "hops": [hop]}
    return Scenario.check(found)


def completion_s(*, replications: int = 1, **given: Any) -> Floats:
    """Return the completion of each replication [s]."""
    frame = simulate(scenario(**given), replications=replications).frame
    return frame["completion_s"].to_numpy(np.float64)


def test_a_transfer_without_loss_takes_its_round_trips_by_hand() -> None:
    base = completion_s(packets=1, initial_window=10)[0]
    assert base == pytest.approx(0.100 + 0.051, abs=0.001)  # handshake, and a packet one way
    assert completion_s(packets=10, initial_window=10)[0] == pytest.approx(base + 9e-3)
    trip = completion_s(packets=11, initial_window=10)[0] - base
    assert trip == pytest.approx(0.101, abs=0.001)
    # Windows of 10, 20, 40 and 80 packets; from then on the path of 101 packets is full.
    assert completion_s(packets=150, initial_window=10)[0] == pytest.approx(base + 3 * trip + 79e-3)
    assert completion_s(packets=10_150, initial_window=10)[0] == pytest.approx(base + 4 * trip + 9.999)


def test_the_receive_window_limits_it() -> None:
    base, trip = completion_s(packets=1)[0], 0.101
    limited = completion_s(packets=200, initial_window=10, window=20)[0]  # 10 + 20 * 9.5
    assert limited == pytest.approx(base + 10 * trip + 9e-3, abs=0.002)


def test_losses_and_small_windows_delay_it_and_a_long_one_is_not_complete() -> None:
    lossy = {**HOP, "loss": "1 %"}
    assert completion_s(hop=lossy, packets=1000)[0] > completion_s(packets=1000)[0]
    assert completion_s(packets=1000, initial_window=2)[0] > completion_s(packets=1000, initial_window=10)[0]
    frame = simulate(scenario(bytes="1 GB"), replications=1).frame
    assert np.isnan(frame["completion_s"][0]) and frame["goodput_bps"][0] == pytest.approx(11.7e6, rel=0.02)


@pytest.mark.full
@pytest.mark.parametrize("control", ["cubic", "reno"])
def test_it_is_near_packets_on_random_paths(control: str) -> None:
    hop = {
        "rate": {"log_uniform": ["1 Mbit/s", "20 Mbit/s"]}, "delay": {"log_uniform": ["1 ms", "50 ms"]},
        "queue": {"integers": [20, 100]}, "loss": {"choice": [0, "0.1 %", "1 %"]},
    }  # fmt: skip
    given = {"hop": hop, "bytes": {"log_uniform": ["10 kB", "3 MB"]}, "congestion_control": control}
    found = completion_s(replications=200, **given)
    off = found / completion_s(fidelity="packet", replications=200, **given) - 1
    assert abs(np.nanmedian(off)) < 0.05 and np.nanmedian(np.abs(off)) < 0.1


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"protocol": "newreno", "packets": 5}, "of linux with cubic or reno"),
        ({"congestion_control": "bbr", "packets": 5}, "linux with cubic or reno"),
        ({"packets": 5, "hop": HOP | {"outages": {"up": "5 s", "down": "1 s"}}}, "outages of finite"),
    ],
)
def test_other_transfers_are_refused(given: dict[str, Any], says: str) -> None:
    if given.get("protocol") == "newreno":
        own = {"protocol": "newreno", "packets": 5}
        one = Scenario.check({"duration": "60 s", "fidelity": "formula", "transport": own, "hops": [HOP]})
    else:
        one = scenario(**given)
    with pytest.raises(InputError, match=says):
        simulate(one, replications=1)


def test_what_it_reads_is_not_named_as_ignored() -> None:
    assert "transport.initial_window" in ignored_fields.fields(scenario(initial_window=4))
    assert "transport.initial_window" not in ignored_fields.fields(scenario(initial_window=4, packets=9))
