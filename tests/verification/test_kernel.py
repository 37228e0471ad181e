"""Runs of a real kernel: the drawn scenarios, and a transfer compared with ours if a network stack is
available."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from netcarlo.estimation.reference import load_mapping, read_rows
from netcarlo.estimation.validate import validate
from tests.campaigns.verification.kernel.drawn import EDGES, KINDS, drawn
from tests.campaigns.verification.kernel.runs import SIDE_BY_SIDE_BPS, batches, columns, measured


@pytest.mark.parametrize("kind", KINDS)
def test_scenarios_are_those_of_a_mapping(kind: str, tmp_path: Path) -> None:
    rows = drawn(kind, 60, seed=1)
    assert rows.equals(drawn(kind, 60, seed=1)) and not rows.equals(drawn(kind, 60, seed=2))
    assert rows["rate_bps"].between(1e6, 30e6).all() and rows["delay_oneway_ms"].between(5, 100).all()
    least = 1 if kind == "edges" else 5
    assert rows["queue_packets"].between(least, 1000).all() and rows["packet_error_rate"].nunique() > 2
    mapping = load_mapping(f"linux_kernel_{kind}")
    rows.assign(**dict.fromkeys(mapping.metrics, 1.0)).to_csv(tmp_path / "rows.csv", index=False)
    assert len(read_rows(tmp_path / "rows.csv", mapping)) == 60


def test_edges_are_of_four_kinds() -> None:
    rows = drawn("edges", 400, seed=1)
    assert set(rows.groupby(["kind", "congestion_control"]).size()) == {33, 34}
    of = {str(kind): part for kind, part in rows.groupby("kind")}
    assert set(of) == set(EDGES)
    down = of["handshake"]
    assert (down["down_start_s"] <= 4e-3 * down["delay_oneway_ms"]).all()
    assert (down["down_start_s"] == 0).any()
    assert down["down_dur_s"].between(0.2, 4).all() and not of["queue"]["down_dur_s"].any()
    assert set(of["queue"]["queue_packets"]) == {1, 2, 3, 4}
    assert of["acks"]["ack_error_rate"].between(0.05, 0.6).all() and of["acks"]["ack_error_rate"].max() > 0.55
    assert of["short"]["packet_error_rate"].between(0.02, 0.2).all()
    assert of["short"]["segments"].between(3, 100).all()


def test_runs_side_by_side_are_all_there_are_and_no_more_than_fit() -> None:
    row = {"rate_bps": 3e7, "duration_s": 30}
    waiting = [(k, row, run) for k in range(4) for run in range(4)]
    found = list(batches(waiting))
    assert sorted(one[::2] for batch in found for one in batch) == sorted(one[::2] for one in waiting)
    assert all(len(batch) * 3e7 <= SIDE_BY_SIDE_BPS for batch in found)


def test_columns_are_mean_and_deviation() -> None:
    found = columns([{"a": 1.0, "b": 2.0}, {"a": 3.0}])
    assert found == {"a_mean": 2.0, "a_sd": pytest.approx(np.sqrt(2)), "b_mean": 2.0, "b_sd": 0.0}


@pytest.mark.full
@pytest.mark.needs("gcc", "network namespaces")
def test_a_transfer_takes_as_long_as_in_the_kernel(tmp_path: Path) -> None:
    row = {
        "id": 1, "congestion_control": "reno", "rate_bps": 5e6, "delay_oneway_ms": 20.0, "queue_packets": 30,
        "packet_error_rate": 0.0, "ack_error_rate": 0.0, "segments": 200, "duration_s": 10, "n_seeds": 3,
    }  # fmt: skip
    file = tmp_path / "linux_kernel_finite.csv"
    measured(pd.DataFrame([row]), seed=1).to_csv(file, index=False)
    found = validate(file, target="cpu").rows.set_index("metric")
    assert abs(found["rel_error"]["completion_s"]) < 0.03
    assert found["estimate"]["queue_drops"] == pytest.approx(found["reference"]["queue_drops"], abs=2)


@pytest.mark.full
@pytest.mark.needs("gcc", "network namespaces")
def test_a_connection_that_lost_two_syns_begins_as_in_the_kernel(tmp_path: Path) -> None:
    row = {
        "id": 1, "kind": "handshake", "congestion_control": "reno", "rate_bps": 5e6, "delay_oneway_ms": 20.0,
        "queue_packets": 30, "packet_error_rate": 0.0, "ack_error_rate": 0.0, "segments": 60,
        "duration_s": 10, "down_start_s": 0.0, "down_dur_s": 1.5, "n_seeds": 3,
    }  # fmt: skip
    file = tmp_path / "linux_kernel_edges.csv"
    measured(pd.DataFrame([row]), seed=1).to_csv(file, index=False)
    found = validate(file, target="cpu").rows.set_index("metric")
    assert found["reference"]["syns"] == found["estimate"]["syns"] == 3
    assert abs(found["rel_error"]["total_s"]) < 0.01


@pytest.mark.full
@pytest.mark.needs("gcc", "ip", "network namespaces", "mptcp")
def test_two_subflows_carry_as_much_as_in_the_kernel(tmp_path: Path) -> None:
    row = {
        "id": 1, "congestion_control": "reno", "rate_bps": 6e6, "delay_oneway_ms": 10.0, "queue_packets": 40,
        "packet_error_rate": 0.0, "rate_2_bps": 4e6, "delay_2_oneway_ms": 15.0, "queue_2_packets": 40,
        "packet_error_rate_2": 0.0, "backup": 0, "duration_s": 6, "n_seeds": 3,
    }  # fmt: skip
    file = tmp_path / "linux_kernel_mptcp_bulk.csv"
    measured(pd.DataFrame([row]), seed=1).to_csv(file, index=False)
    found = validate(file, target="cpu").rows.set_index("metric")
    assert found["reference"]["goodput_Bps"] > 1.2 * 6e6 / 8  # more than the first path carries
    assert abs(found["rel_error"]["goodput_Bps"]) < 0.05
    # The link has real-time priority if this process may have it.
    assert pd.read_csv(file)["real_time_mean"].item() == float(may_be_real_time())


def may_be_real_time() -> bool:
    """Return True if a child process may run with SCHED_FIFO."""
    program = "import os; os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(10))"
    return subprocess.run([sys.executable, "-c", program], capture_output=True, check=False).returncode == 0
