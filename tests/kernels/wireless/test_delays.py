"""Delays of classes of flows over 802.11, and gateway outages: bitwise comparison with twins."""

import math
import os
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from netcarlo.kernels import models
from netcarlo.kernels.base.delays import DelayOut
from netcarlo.kernels.base.rows import take, trim
from netcarlo.kernels.runtime import launch
from netcarlo.kernels.wireless.layout import Flow, FlowOut, NodeOut, Radio, WifiRows
from netcarlo.networks.wireless.delays import LOST, table
from netcarlo.networks.wireless.outcomes import tables
from tests.kernels.beside_twin import differing
from tests.kernels.wireless.test_wireless import Ints
from tests.twins.rows import rows_of
from tests.twins.wireless.run import simulate
from tests.twins.wireless.scenarios import describe

LONG = int(os.environ.get("NETCARLO_LONG", "1"))
MODEL = "wifi_sack_varying_delays"
"""Model in `models.NAMES`; tests elsewhere cover the options it has besides delays."""


def run(rows: WifiRows, model: str = MODEL) -> Ints:
    return launch.run(models.model(model), rows)


def differences(model: str, rows: WifiRows, out: Ints) -> list[str]:
    return differing(out, lambda row: simulate(model, rows, row=row), partial(describe, rows), str)


def gateway(rows: WifiRows, out: Ints) -> Ints:
    """Return the outcomes of the last node of each row."""
    found = trim(out, rows, rows)
    nodes = tables(found, flows=rows.most_flows, classes=table(found, rows).shape[1]).nodes
    return np.array(nodes[np.arange(len(rows.parameters)), rows.parameters[:, Radio.NODES] - 1])


@pytest.mark.full
def test_kernel_equals_twin() -> None:
    rows = rows_of(MODEL, 60 * LONG, seed=31)
    out = run(rows)
    assert not (found := differences(MODEL, rows, out)), "\n\n".join(found)
    total = table(trim(out, rows, rows), rows).sum(axis=0)
    for column in DelayOut.PACKETS, DelayOut.LATE, DelayOut.SUM, DelayOut.JITTER:  # each column is tested
        assert (total[:, column] > 0).all(), column
    always_up = rows._replace(parameters=rows.parameters.copy())
    always_up.parameters[:, Radio.OUTAGES] = 0
    others = run(always_up)
    assert (out != others).any(axis=1).mean() > 0.5
    drops, received = (
        gateway(rows, out)[:, column] - gateway(rows, others)[:, column]
        for column in (NodeOut.DROPS, NodeOut.RECEIVED)
    )
    assert (drops > 0).mean() > 0.2 and (received < 0).mean() > 0.2


@pytest.mark.full
@given(st.integers(0, 1 << 30))
@settings(deadline=None, max_examples=8)
def test_every_packet_that_is_delivered_is_counted_and_counting_changes_nothing(seed: int) -> None:
    rows = rows_of(MODEL, 20, seed=seed)
    rows.parameters[:, Radio.OUTAGES] = 0
    found = trim(run(rows), rows, rows)
    counts = table(found, rows)
    each = tables(found, flows=rows.most_flows, classes=counts.shape[1])
    number = rows.network[:, : rows.most_flows * len(Flow)].reshape(20, -1, len(Flow))[:, :, Flow.DELAY_CLASS]
    for place in range(counts.shape[1]):
        mine = np.where(number == place + 1, each.flows[:, :, FlowOut.DELIVERED], 0).sum(axis=1)
        assert (counts[:, place, DelayOut.PACKETS] == mine).all()
    assert (counts[:, :, DelayOut.DELAYS :].sum(axis=2) == counts[:, :, DelayOut.PACKETS]).all()
    plain = rows._replace(parameters=rows.parameters.copy())
    plain.parameters[:, Radio.DELAY_CLASSES] = 0
    others = trim(run(plain, "wifi_sack"), plain, plain)
    assert (found[:, : others.shape[1]] == others).all()


@pytest.mark.full
@given(st.integers(0, 1 << 30))
@settings(deadline=None, max_examples=8)
def test_packets_are_conserved_when_the_gateway_fails(seed: int) -> None:
    rows = rows_of(MODEL, 20, seed=seed)
    found = trim(run(rows), rows, rows)
    flows = tables(found, flows=rows.most_flows, classes=table(found, rows).shape[1]).flows
    sent = flows[:, :, FlowOut.SENT] + flows[:, :, FlowOut.IN_FLIGHT_BEFORE]
    ended = flows[:, :, FlowOut.RECEIVED] + flows[:, :, FlowOut.IN_FLIGHT] + flows[:, :, LOST].sum(axis=2)
    assert (sent == ended).all()


@pytest.mark.full
def test_a_row_finds_its_place_beside_rows_with_more_classes() -> None:
    """Test rows with different numbers of classes in one launch (`report._classes`)."""
    assert math.gcd(int(FlowOut.COLUMNS), int(DelayOut.COLUMNS)) == 1
    rows = rows_of(MODEL, 20, seed=33)
    together = run(rows)
    assert len(set(rows.parameters[:, Radio.DELAY_CLASSES])) > 2
    for k in range(0, 20, 3):
        alone = take(rows, [k])
        assert (trim(run(alone), alone, alone) == trim(together, rows, alone)[k]).all()
