"""Random scenarios of two paths: rates, RTTs, queues, losses, and an outage of the first path."""

from typing import Any

import numpy as np
import pandas as pd

KINDS = ("sctp_bulk", "sctp_outage", "sctp_failback", "sctp_cmt")
"""`sctp_bulk`: no outage; `sctp_outage`: the first path is down to the end of the run; `sctp_failback`: it is
up again after 1 to 20 s; `sctp_cmt`: no outage, new data use both paths."""
DURATION_S = {"sctp_bulk": 60.0, "sctp_outage": 60.0, "sctp_failback": 120.0, "sctp_cmt": 60.0}
WINDOW = 1 << 20
"""Receive buffer, large enough never to limit the sender [bytes]."""
NO_PF = 65535
"""PotentiallyFailed.Max.Retrans that disables the potentially failed state."""


def drawn(kind: str, count: int, *, seed: int) -> pd.DataFrame:
    """Draw `count` scenarios of a kind; row k of a seed is the same for every `count`."""
    return pd.DataFrame(
        [_one(kind, k, np.random.default_rng([seed, KINDS.index(kind), k])) for k in range(count)]
    )


def _one(kind: str, k: int, rng: np.random.Generator) -> dict[str, Any]:
    row: dict[str, Any] = {"id": k, "kind": kind, "duration_s": DURATION_S[kind]}
    for path in 1, 2:
        rate = float(f"{_log_uniform(rng, 0.5e6, 10e6):.3g}")
        delay_ms = round(_log_uniform(rng, 5, 100), 2)
        products = rate * 2e-3 * delay_ms / 12_000
        row[f"rate_{path}_bps"], row[f"delay_{path}_ms"] = rate, delay_ms
        row[f"queue_{path}_packets"] = int(np.clip(_log_uniform(rng, 0.3, 3) * products, 5, 300))
    row["loss"] = float(rng.choice([0.0, 0.0, 1e-3, 1e-2]))
    row["ack_loss"] = float(rng.choice([0.0, 0.0, 0.0, 1e-2]))
    row["path_max_retrans"] = int(rng.choice([1, 2, 5]))
    row["pf_max_retrans"] = int(rng.choice([0, 0, 1, NO_PF]))
    row["heartbeat_s"] = float(rng.choice([1.0, 5.0, 30.0]))
    row["min_rto_s"] = float(rng.choice([0.3, 1.0]))
    row["down_start_s"], row["down_s"] = 0.0, 0.0
    row["cmt"] = int(kind == "sctp_cmt")
    if kind in ("sctp_outage", "sctp_failback"):
        row["down_start_s"] = round(rng.uniform(10, 20), 3)
        row["down_s"] = DURATION_S[kind] if kind == "sctp_outage" else round(_log_uniform(rng, 1, 20), 3)
    row["n_seeds"] = 8
    return row


def _log_uniform(rng: np.random.Generator, least: float, most: float) -> float:
    return float(np.exp(rng.uniform(np.log(least), np.log(most))))
