"""Losses in bursts: comparison with the twin and with a channel stepped packet by packet, and known cases."""

from typing import Any

import numba
import numpy as np
import pytest

from netcarlo import estimate
from netcarlo.errors import InputError
from netcarlo.kernels import models
from netcarlo.kernels.base.bind import bind
from netcarlo.kernels.base.channel import Channel, begin, lost
from netcarlo.kernels.base.layout import Out
from netcarlo.kernels.base.loss import thresholds
from netcarlo.kernels.base.parameters import P, RowP
from netcarlo.kernels.runtime import launch
from netcarlo.networks.path.bursts import losses
from netcarlo.networks.path.description import Bursts
from netcarlo.scenario import Scenario
from netcarlo.schema.draws import Draws
from tests.kernels.beside_twin import differing
from tests.tiers import parameters
from tests.twins import simulate
from tests.twins.path.mobility.scenarios import mobile_rows
from tests.twins.path.scenarios import as_datagrams, describe, sctp_rows, tcp_rows, with_bursts

PACKETS = 1_000_000
ROWS = {
    "tcp_newreno": lambda: tcp_rows(40, seed=1),
    "udp": lambda: as_datagrams(tcp_rows(60, seed=2), seed=2),
    "sctp": lambda: sctp_rows(25, seed=3),
    "tcp_newreno_mobile": lambda: mobile_rows(15, seed=4),
}


@pytest.mark.parametrize("model", parameters(ROWS, full=["udp"]))
def test_kernel_equals_twin(model: str) -> None:
    rows = with_bursts(ROWS[model](), seed=5)
    out = launch.run(models.model(model), rows)
    assert (out[:, Out.DROPS_RANDOM] > 0).mean() > 0.25
    found = differing(
        out,
        lambda row: simulate(model, rows, row=row),
        lambda row: describe(rows, row),
        lambda c: Out(c).name,
    )
    assert not found, "\n\n".join(found)


def carry(p: Any, table: Any, m: Any, found: Any) -> None:
    """Send packets through a channel and note in `found` which are lost."""
    begin(p, table, m, 0, 16)
    for k in range(len(found)):
        found[k] = lost(p, table, m, 0, 16)


CARRY = bind(carry, numba.njit)


def channel(loss: float, apart: float, length: float, burst_loss: float, *, seed: int) -> np.ndarray:
    """Return the losses of packets by the kernel's functions, with the parameters of a scenario."""
    draws = Draws(0, np.zeros(1, np.int64), np.zeros(1, np.int64))
    found = losses("loss", loss, Bursts(apart=apart, length=length, loss=burst_loss), draws)
    table = thresholds(found.happens[:, 0])
    p = np.zeros(len(P), np.int64)
    p[RowP.SEED] = seed
    m = np.zeros(len(Channel), np.int64)
    m[[Channel.ROW, Channel.OTHER_ROW]] = 0, 1
    m[[Channel.CHANCES, Channel.OTHER_CHANCES]] = found.chances[:, 0]
    gone = np.zeros(PACKETS, np.bool_)
    CARRY(p, table, m, gone)
    return gone


CHANNELS = [(0.0, 50.0, 5.0, 1.0), (0.01, 100.0, 10.0, 0.5), (0.2, 3.0, 1.0, 0.7), (0.5, 1.0, 20.0, 0.1)]
APART = (1, 4, 16)


def expected(loss: float, apart: float, length: float, burst_loss: float) -> list[float]:
    """Return the share of packets lost, and of pairs `APART` of which both are lost, by the transition
    matrix."""
    turn = np.array([[1 - 1 / apart, 1 / apart], [1 / length, 1 - 1 / length]])
    share = np.array([apart, length]) / (apart + length)
    lost = np.diag([loss, burst_loss])
    pairs = (share @ lost @ np.linalg.matrix_power(turn, apart) @ lost for apart in APART)
    return [float((share @ lost).sum()), *(float(pair.sum()) for pair in pairs)]


def observed(gone: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the observed values, and their standard errors from 100 batches."""
    shares = np.stack([gone[:-16], *(gone[:-16] & gone[d : len(gone) - 16 + d] for d in APART)])
    batches = np.stack([part.mean(axis=1) for part in np.array_split(shares, 100, axis=1)])
    return batches.mean(axis=0), batches.std(axis=0, ddof=1) / 10


@pytest.mark.parametrize("numbers", parameters(CHANNELS, full=CHANNELS[:1]))
def test_losses_follow_each_other_as_in_a_channel_of_two_states(numbers: tuple[float, ...]) -> None:
    """Test loss bursts within 5 standard errors; bursts 20 % longer are detected in all four cases."""
    found, error = observed(channel(*numbers, seed=1))
    assert (np.abs(found - expected(*numbers)) < 5 * error).all()
    loss, apart, length, burst_loss = numbers
    longer, error = observed(channel(loss, apart, 1.2 * length, burst_loss, seed=2))
    assert (np.abs(longer - expected(*numbers)) > 5 * error).any()


@pytest.mark.parametrize("numbers", CHANNELS)
def test_the_share_lost_is_known(numbers: tuple[float, ...]) -> None:
    loss, apart, length, burst_loss = numbers
    draws = Draws(0, np.zeros(1, np.int64), np.zeros(1, np.int64))
    bursts = Bursts(apart=apart, length=length, loss=burst_loss)
    assert losses("loss", loss, bursts, draws).mean[0] == pytest.approx(expected(*numbers)[0])


SCENARIO = {
    "transport": {"protocol": "sack"}, "duration": "100 s", "seed": 5,
    "hops": [{"rate": "20 Mbit/s", "delay": "20 ms", "bursts": {"apart": 297, "length": 3}}],
}  # fmt: skip


def test_bursts_cost_less_than_as_many_single_losses() -> None:
    """Compare two channels that lose 1 % of packets each.

    Bursts concentrate the losses in a third as many events. SACK repairs each burst in one recovery.
    """
    single = {**SCENARIO["hops"][0], "loss": "1 %"}
    del single["bursts"]
    bursty, alone = (
        estimate(Scenario.check({**SCENARIO, "hops": [hop]}), replications=200).outcomes.frame
        for hop in (SCENARIO["hops"][0], single)
    )
    lost, sent = bursty.drops_random.sum(), bursty.sent.sum()
    assert lost / sent == pytest.approx(0.01, rel=0.1)
    assert bursty.goodput_bps.mean() > 1.15 * alone.goodput_bps.mean()


def test_acknowledgements_are_lost_in_bursts_too() -> None:
    hop = {"rate": "2 Mbit/s", "delay": "20 ms", "ack_bursts": {"apart": 50, "length": 50}}
    found = estimate(Scenario.check({**SCENARIO, "hops": [hop]}), replications=20).outcomes.frame
    assert (found.drops_random == 0).all()
    assert found.ack_drops.sum() > 0.2 * found.received.sum()


@pytest.mark.parametrize("fidelity", ["fluid", "formula"])
def test_cheap_models_refuse_bursts(fidelity: str) -> None:
    with pytest.raises(InputError, match="does not support burst losses"):
        estimate(Scenario.check({**SCENARIO, "fidelity": fidelity}), replications=2)


def test_a_burst_has_a_length() -> None:
    with pytest.raises(InputError, match=r"hops.0.bursts.length = 0 is below the limit; expected 1 to"):
        Scenario.check({**SCENARIO, "hops": [{**SCENARIO["hops"][0], "bursts": {"apart": 5, "length": 0}}]})
