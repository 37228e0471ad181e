"""Random scenarios: those of the kernel's runs (`kernel.drawn`), with the controls of QUIC."""

import numpy as np
import pandas as pd

from tests.campaigns.verification.kernel import drawn as kernel

KINDS = "bulk", "finite", "outage", "migration"
CONTROLS = "newreno", "cubic"
SEEDS = {"bulk": 20, "finite": 256, "outage": 20, "migration": 20}
"""Number of runs of a scenario with random losses or a random outage; without them all runs are equal."""
DROPPED = "window_clamp_bytes", "autotuning", "backup"
"""Columns of the kernel's scenarios that QUIC does not have."""


def drawn(kind: str, count: int, *, seed: int) -> pd.DataFrame:
    """Draw `count` scenarios of a kind; return the columns that describe them."""
    rows = kernel.drawn("mptcp_outage" if kind == "migration" else kind, count, seed=seed)
    rows = rows.drop(columns=[name for name in DROPPED if name in rows])
    rows["congestion_control"] = [CONTROLS[k % len(CONTROLS)] for k in range(count)]
    if kind == "migration":
        rows["migrate_after"] = 1 + np.arange(count) % 3
    random = (rows["packet_error_rate"] > 0) | (kind in ("outage", "migration"))
    if "ack_error_rate" in rows:
        random |= rows["ack_error_rate"] > 0
    rows["n_seeds"] = random.map({True: SEEDS[kind], False: 1})
    return rows
