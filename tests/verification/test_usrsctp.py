"""SCTP of usrsctp in virtual time: the drawn scenarios, and runs compared with ours."""

from typing import Any

import pandas as pd
import pytest

from tests.campaigns.verification.usrsctp import __main__ as campaign
from tests.campaigns.verification.usrsctp.drawn import KINDS, NO_PF, drawn
from tests.campaigns.verification.usrsctp.runs import compared, scenario_of

ROW: dict[str, Any] = {
    "id": 0, "kind": "sctp_outage", "duration_s": 30.0, "rate_1_bps": 1e6, "rate_2_bps": 1e6,
    "delay_1_ms": 20.0, "delay_2_ms": 20.0, "queue_1_packets": 20, "queue_2_packets": 20, "loss": 0.0,
    "ack_loss": 0.0, "path_max_retrans": 2, "pf_max_retrans": NO_PF, "heartbeat_s": 5.0, "min_rto_s": 1.0,
    "down_start_s": 0.0, "down_s": 0.0, "cmt": 0, "n_seeds": 2,
}  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_scenarios_are_drawn_by_seed(kind: str) -> None:
    rows = drawn(kind, 30, seed=1)
    assert rows.equals(drawn(kind, 40, seed=1)[:30]) and not rows.equals(drawn(kind, 30, seed=2))
    assert rows["pf_max_retrans"].nunique() == 3 and (rows["down_s"] > 0).all() == (
        kind in ("sctp_outage", "sctp_failback")
    )
    assert scenario_of(rows.to_dict("records")[0]).transport.rules == "rfc9260"


def test_summary_counts_times_that_are_close_or_absent_in_both() -> None:
    found = pd.DataFrame({
        "usrsctp_goodput_bps": [1.0, 1.0, 1.0], "netcarlo_goodput_bps": [1.0, 1.01, 0.9],
        "usrsctp_moved_s": [1.0, 2.0, None], "netcarlo_moved_s": [1.05, 3.0, None],
    })  # fmt: skip
    goodput, moved = campaign.summary(found).splitlines()
    assert goodput.startswith("goodput: median 1 %, 90 % within 8.2 %, worst 10 %")
    assert moved == "moved_s: 2 of 3 within 60 ms; differences +0.05 to +1.00 s, median +0.53 s"


@pytest.mark.full
@pytest.mark.needs("gcc", "usrsctp")
def test_goodput_and_failover_are_those_of_usrsctp() -> None:
    """T3 runs freely in both, so that either notices an outage within one RTO (1 s) and a round trip."""
    down = {"down_start_s": 10.0, "down_s": 5.0, "pf_max_retrans": 0}
    found = compared(pd.DataFrame([ROW, ROW | down]), seed=1)
    errors = found["netcarlo_goodput_bps"] / found["usrsctp_goodput_bps"] - 1
    assert abs(errors[0]) < 0.002 and abs(errors[1]) < 0.06
    assert 0 < found["usrsctp_moved_s"][1] < 1.4 and 0 < found["netcarlo_moved_s"][1] < 1.4
