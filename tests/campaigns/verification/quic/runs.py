"""Scenarios as runs of `ngtcp2.c`, and their results."""

import json
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from tests.campaigns.verification.kernel.runs import columns

SOURCE = Path(__file__).with_name("ngtcp2.c")
LIBRARIES = "-lngtcp2", "-lngtcp2_crypto_gnutls", "-lgnutls"
PAYLOAD = 1165
"""Bytes of the stream in a full datagram of 1,200 bytes."""


def measured(rows: pd.DataFrame, *, seed: int) -> tuple[str, pd.DataFrame]:
    """Return the version of the stack, and the scenarios with mean and standard deviation of their runs."""
    records = rows.to_dict("records")
    runs = [(k, run) for k, row in enumerate(records) for run in range(row["n_seeds"])]
    lines = [line_of(records[k], np.random.default_rng([seed, k, run])) for k, run in runs]
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "ngtcp2"
        subprocess.run(["gcc", "-O2", "-o", program, SOURCE, *LIBRARIES], check=True)
        done = subprocess.run(
            [program], input="\n".join(lines), stdout=subprocess.PIPE, text=True, check=True
        )
    head, *results = map(json.loads, done.stdout.splitlines())
    found: dict[int, list[dict[str, float]]] = {k: [] for k in range(len(records))}
    for (k, _), result in zip(runs, results, strict=True):
        found[k].append(result)
    return head["stack"], pd.DataFrame(row | columns(found[k]) for k, row in enumerate(records))


def line_of(row: dict[str, Any], rng: np.random.Generator) -> str:
    """Return a run as the program reads it."""
    begin = row.get("down_start_s", 0) + rng.uniform(0, 1) * ("down_start_s" in row)
    words = [
        rng.integers(1 << 62), row["rate_bps"], round(row["delay_oneway_ms"] * 1e6), row["queue_packets"],
        row["packet_error_rate"], row.get("ack_error_rate", 0), row["duration_s"] * 10**9,
        row.get("segments", 0) * PAYLOAD, round(begin * 1e9), round(row.get("down_dur_s", 0) * 1e9),
        int(row["congestion_control"] == "cubic"), row.get("rate_2_bps", 1.0),
        round(row.get("delay_2_oneway_ms", 0) * 1e6), row.get("queue_2_packets", 1),
        row.get("packet_error_rate_2", 0.0), row.get("migrate_after", 0),
    ]  # fmt: skip
    return " ".join(map(str, words))
