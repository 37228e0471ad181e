"""Runs of ngtcp2: the drawn scenarios are those of the mappings, and a transfer takes as long as ours."""

from pathlib import Path

import pandas as pd
import pytest

from netcarlo.estimation.reference import load_mapping, read_rows
from netcarlo.estimation.validate import validate
from tests.campaigns.verification.quic.drawn import CONTROLS, KINDS, drawn
from tests.campaigns.verification.quic.runs import measured


@pytest.mark.parametrize("kind", KINDS)
def test_scenarios_are_those_of_a_mapping(kind: str, tmp_path: Path) -> None:
    rows = drawn(kind, 60, seed=1)
    assert rows.equals(drawn(kind, 60, seed=1)) and not rows.equals(drawn(kind, 60, seed=2))
    assert set(rows["congestion_control"]) == set(CONTROLS)
    assert rows["rate_bps"].between(1e6, 30e6).all() and rows["queue_packets"].between(5, 1000).all()
    mapping = load_mapping(f"quic_{kind}")
    rows.assign(**dict.fromkeys(mapping.metrics, 1.0)).to_csv(tmp_path / "rows.csv", index=False)
    assert len(read_rows(tmp_path / "rows.csv", mapping)) == 60


@pytest.mark.full
@pytest.mark.needs("gcc", "ngtcp2")
@pytest.mark.parametrize("control", CONTROLS)
def test_a_transfer_takes_as_long_as_that_of_ngtcp2(control: str, tmp_path: Path) -> None:
    row = {
        "id": 1, "congestion_control": control, "rate_bps": 5e6, "delay_oneway_ms": 20.0, "queue_packets": 30,
        "packet_error_rate": 0.0, "ack_error_rate": 0.0, "segments": 400, "duration_s": 10, "n_seeds": 1,
    }  # fmt: skip
    file = tmp_path / "quic_finite.csv"
    stack, rows = measured(pd.DataFrame([row]), seed=1)
    rows.to_csv(file, index=False)
    found = validate(file, target="cpu").rows.set_index("metric")
    assert stack.startswith("ngtcp2 ") and abs(found["rel_error"]["total_s"]) < 0.03
