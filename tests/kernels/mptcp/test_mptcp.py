"""MPTCP: join, scheduler, backup, stale subflows, reinjection, and conservation of the data."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from netcarlo.kernels import models
from netcarlo.kernels.base import loss
from netcarlo.kernels.base.layout import (
    BYTE_TIME_BITS,
    ENDLESS,
    EVENT_RECEIVE,
    EVENT_SEND,
    FOREVER,
    MPTCP_PATHS,
    NEVER,
    WITH_SUBFLOWS,
    Hop,
    Out,
    Rows,
    Subflows,
    Trace,
)
from netcarlo.kernels.base.parameters import MptcpP, P, RowP
from netcarlo.kernels.runtime import launch
from tests.kernels.beside_twin import differing, run_as_python
from tests.twins import simulate
from tests.twins.path.scenarios import coupled_rows, describe, mptcp_rows

NS, MS = 10**9, 10**6
DEFAULTS = {
    "SEED": 1, "END": 10 * NS, "LIMIT": ENDLESS, "DATA": 1424, "HEADER": 76, "ACK": 64, "SACK_BLOCK": 8,
    "HANDSHAKE": 72, "WINDOW": 1000, "INITIAL_WINDOW": 10, "TICK": 4 * MS, "MIN_RTO": 200 * MS,
    "MAX_RTO": 120 * NS, "INITIAL_RTO": NS, "ACK_EVERY": 2, "ACK_DELAY": 40 * MS, "SAMPLE": 100 * MS,
    "QUEUES": WITH_SUBFLOWS, "N_PATHS": 2, "PATH_MAX_RETRANS": 4, "INITIAL_CWND": 4352,
}  # fmt: skip
pytestmark = pytest.mark.filterwarnings("ignore:overflow")


def rows(
    *, rates: tuple[float, ...] = (2e6, 2e6), delays: tuple[float, ...] = (0.01, 0.01), queue: int = 30,
    down: tuple[float, float] | None = None, **given: int,
) -> Rows:  # fmt: skip
    """Return one row; path 0 is down between the times `down` [s]. Rates are in bit/s, 0 for infinite."""
    parameters = np.zeros((1, len(P)), np.int64)
    for name, value in {**DEFAULTS, **given}.items():
        parameters[0, MptcpP[name] if name in MptcpP.__members__ else P[name]] = value
    hops = np.zeros((1, MPTCP_PATHS, 1, len(Hop)), np.int64)
    outages = np.full((1, MPTCP_PATHS, 1, 1, 2), FOREVER, np.int64)
    for path, (rate, delay) in enumerate(zip(rates, delays, strict=True)):
        byte_time = round(8e9 * 2**BYTE_TIME_BITS / rate) if rate else 0
        hops[0, path, 0, [Hop.BYTE_TIME, Hop.R_BYTE_TIME]] = byte_time
        hops[0, path, 0, [Hop.DELAY, Hop.R_DELAY]] = round(delay * NS)
        hops[0, path, 0, [Hop.QUEUE, Hop.R_QUEUE]] = queue, 0
        hops[0, path, 0, Hop.PRESENT] = 1
    if down is not None:
        outages[0, 0, 0, 0] = [round(time * NS) for time in down]
    return Rows(parameters, np.zeros((1, 0)), hops, outages, loss.thresholds([0.0]))


def outcomes(table: Rows, control: str = "cubic") -> Any:
    return run_as_python(f"mptcp_{control}", table)[0]


def of_subflows(out: Any) -> Any:
    return out[..., len(Out) :]


def events(table: Rows, event: int) -> Any:
    """Return the rows of one kind of event of the trace."""
    found, _ = launch.trace(models.model("mptcp_reno"), table, row=0)
    return found[found[:, Trace.EVENT] == event]


@pytest.mark.parametrize("control", ["reno", "cubic", "bbr", "coupled"])
def test_it_equals_its_twin(control: str) -> None:
    table = coupled_rows(30, seed=48) if control == "coupled" else mptcp_rows(12, seed=48)
    table.parameters[::2, MptcpP.WINDOW_GROWTH] = 40
    out = run_as_python(f"mptcp_{control}", table)
    found = differing(
        out, lambda row: simulate(f"mptcp_{control}", table, row=row), lambda row: describe(table, row), str
    )
    assert not found, "\n\n".join(found)
    assert (of_subflows(out).max(axis=0)[[Subflows.REINJECTED, Subflows.REORDERED]] > 0).all()


@pytest.mark.full
@pytest.mark.parametrize(("control", "of"), [("cubic", mptcp_rows), ("coupled", coupled_rows)])
def test_it_equals_its_twin_in_600_scenarios(control: str, of: Callable[..., Rows]) -> None:
    table = of(600, seed=480)
    table.parameters[::2, MptcpP.WINDOW_GROWTH] = 100
    out = launch.run(models.model(f"mptcp_{control}"), table)
    found = differing(
        out, lambda row: simulate(f"mptcp_{control}", table, row=row), lambda row: describe(table, row), str
    )
    assert not found, "\n\n".join(found)
    assert (of_subflows(out).max(axis=0) > 0).all()


@pytest.mark.parametrize(("control", "of"), [("reno", mptcp_rows), ("coupled", coupled_rows)])
def test_every_data_packet_is_delivered_once_and_in_order(control: str, of: Callable[..., Rows]) -> None:
    table = of(30, seed=49)
    out = run_as_python(f"mptcp_{control}", table)
    delivered = of_subflows(out)[:, Subflows.DELIVERED :].sum(axis=1)
    assert (delivered == out[:, Out.DELIVERED]).all() and delivered.any()
    assert (out[:, Out.ACKED] <= out[:, Out.IN_ORDER]).all()
    assert (out[:, Out.IN_ORDER] <= out[:, Out.DELIVERED]).all()
    assert (out[:, Out.DELIVERED] <= out[:, Out.RECEIVED]).all()
    done = out[:, Out.COMPLETED] != NEVER
    assert done.any() and (out[done, Out.IN_ORDER] == table.parameters[done, RowP.LIMIT]).all()
    assert (out[~done, Out.IN_ORDER] < table.parameters[~done, RowP.LIMIT]).all()


def test_the_second_subflow_carries_data_after_two_round_trips_of_its_own(uncompiled: None) -> None:
    sent = events(rows(rates=(0, 0), delays=(0.03, 0.05), WINDOW=4000, END=33 * NS // 100), EVENT_SEND)
    first, second = (sent[sent[:, Trace.PATH] == path, Trace.TIME] for path in range(2))
    handshake = 2 * 0.03 + 300e-6  # the application learns of the connection 300 us after the SYN-ACK
    assert first[0] == pytest.approx(handshake, abs=1e-9)
    assert second[0] == pytest.approx(handshake + 2 * 0.03 + 4 * 0.05, abs=1e-9)


def test_a_burst_ends_with_its_socket_buffer(uncompiled: None) -> None:
    """Test the first write of the application: 23 packets, of which the last one is a burst of its own."""
    sent = events(rows(rates=(1e6, 1e6), delays=(0.05, 0.05), WINDOW=4000, END=NS // 2), EVENT_SEND)
    bursts = np.unique(sent[sent[:, Trace.PATH] == 0, Trace.TIME], return_counts=True)[1]
    assert bursts[:9].tolist() == [10, 2, 2, 2, 2, 2, 2, 1, 2]


def test_paths_are_used_in_proportion_to_their_rates() -> None:
    shares = of_subflows(outcomes(rows(rates=(3e6, 1e6), WINDOW=4000)))[Subflows.DELIVERED :]
    assert shares[0] / shares.sum() == pytest.approx(0.75, abs=0.03)


def test_a_backup_carries_data_only_without_another_active_subflow(uncompiled: None) -> None:
    assert outcomes(rows(BACKUP=2))[Out.SENT_ALTERNATE] == 0
    sent = events(rows(BACKUP=2, down=(3, 8), END=14 * NS), EVENT_SEND)
    on_backup = sent[sent[:, Trace.PATH] == 1]
    # Data are reinjected there after two periods of the connection's timer without progress.
    assert 3 + 2 * 0.2 < on_backup[0, Trace.TIME] < 5
    back = sent[(sent[:, Trace.PATH] == 0) & (sent[:, Trace.TIME] > 8), Trace.TIME].min()
    assert on_backup[:, Trace.TIME].max() < back + 4 and sent[-1, Trace.PATH] == 0


def test_a_stale_subflow_leaves_its_data_to_the_other_one() -> None:
    tables = [rows(down=(3, 9), STALE_LOSS_CNT=count) for count in (4, 0)]
    stale, never = (outcomes(table) for table in tables)
    assert (stale == simulate("mptcp_cubic", tables[0])).all()
    assert of_subflows(stale)[Subflows.STALE] == 1 and of_subflows(never)[Subflows.STALE] == 0
    assert of_subflows(stale)[Subflows.REINJECTED] > 50
    assert stale[Out.SILENCE] < NS
    one_path = outcomes(rows(rates=(2e6, 2e6), SUBFLOWS=1))
    assert stale[Out.IN_ORDER] > 1.05 * one_path[Out.IN_ORDER]


def test_the_receive_window_is_shared(uncompiled: None) -> None:
    table = rows(WINDOW=30, rates=(5e6, 5e6), END=2 * NS)
    sent, received = (events(table, event) for event in (EVENT_SEND, EVENT_RECEIVE))
    assert len({*received[:, Trace.PATH]}) == 2
    assert (sent[:, Trace.SEQUENCE] - sent[:, Trace.ACKED]).max() <= 30


def test_over_one_path_it_carries_what_tcp_carries() -> None:
    alone = outcomes(rows(SUBFLOWS=1), "reno")
    linux = run_as_python("tcp_linux_reno", rows(SUBFLOWS=1, QUEUES=1))[0]
    assert alone[Out.IN_ORDER] == pytest.approx(linux[Out.IN_ORDER], rel=0.01)
    assert of_subflows(alone)[Subflows.DELIVERED :].tolist() == [alone[Out.DELIVERED], 0]
