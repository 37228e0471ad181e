"""Scenarios as runs of the emulated link, some in parallel, and their results."""

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

SIDE_BY_SIDE_BPS, SIDE_BY_SIDE = 160e6, 48
"""Limits of the sum of the rates [bit/s], and of the number, of runs in parallel."""
LATE = 0.003
"""Share of packets that may be delivered more than 1 ms late; a run with more is repeated."""
TRIES = 3


def measured(rows: pd.DataFrame, *, seed: int) -> pd.DataFrame:
    """Return the scenarios with mean and standard deviation of the results of their runs."""
    with tempfile.TemporaryDirectory() as folder:
        link = Path(folder) / "link"
        sources = [Path(__file__).with_name(name) for name in ("link.c", "hosts.c")]
        subprocess.run(["gcc", "-O2", "-pthread", "-o", link, *sources], check=True)
        records = rows.to_dict("records")
        waiting = [(k, row, run) for k, row in enumerate(records) for run in range(row["n_seeds"])]
        found: dict[int, list[dict[str, float]]] = {k: [] for k in range(len(rows))}
        for again in range(TRIES):
            late = []
            for batch in batches(waiting):
                lines = [line_of(row, np.random.default_rng([seed, k, run, again])) for k, row, run in batch]
                for one, values in zip(batch, run_link(link, lines), strict=True):
                    if values["late_share"] > LATE and again + 1 < TRIES:
                        late.append(one)
                    else:
                        found[one[0]].append(outcomes(one[1], values))
                done = sum(map(len, found.values()))
                print(f"{time.strftime('%H:%M:%S')} {done} of {rows['n_seeds'].sum()} runs", file=sys.stderr)
            waiting = late
    return pd.DataFrame(
        row | columns(found[k]) for k, row in enumerate(rows[list(described(rows))].to_dict("records"))
    )


def described(rows: pd.DataFrame) -> Iterator[str]:
    """Return the columns that describe a scenario."""
    return (name for name in rows if not name.endswith(("_mean", "_sd", "_runs")))


def columns(runs: list[dict[str, float]]) -> dict[str, float]:
    """Return mean and standard deviation of each outcome, in the columns of the references."""
    found: dict[str, float] = {}
    for name in dict.fromkeys(name for run in runs for name in run):
        values = [run[name] for run in runs if name in run]
        found[f"{name}_mean"] = float(np.mean(values))
        found[f"{name}_sd"] = float(np.std(values, ddof=1)) if len(values) > 1 else 0.0
    return found


def batches(waiting: list[Any]) -> Iterator[list[Any]]:
    """Return batches of runs that may run at the same time; the longest run together."""
    batch: list[Any] = []
    for one in sorted(waiting, key=lambda one: (about(one[1]), one[2], one[0])):
        rate = sum(row["rate_bps"] + row.get("rate_2_bps", 0) for _, row, _ in [*batch, one])
        if batch and (rate > SIDE_BY_SIDE_BPS or len(batch) == SIDE_BY_SIDE):
            yield batch
            batch = []
        batch.append(one)
    if batch:
        yield batch


def about(row: dict[str, Any]) -> float:
    """Return the approximate duration of a run [s]; that of a transfer grows with its delay and losses."""
    if not row.get("segments"):
        return float(row["duration_s"])
    trip = row["delay_oneway_ms"] / 1e3 * np.sqrt(row["packet_error_rate"]) + 12_000 / row["rate_bps"]
    return float(row["segments"] * trip)


def line_of(row: dict[str, Any], rng: np.random.Generator) -> str:
    """Return a run as link.c reads it."""
    pair = "congestion_control_1" in row
    start = row.get("down_start_s", 0)
    if "down_dur_s" in row and "kind" not in row:
        start += rng.uniform(0, 1)
    words = [
        int(row["rate_bps"]), row["delay_oneway_ms"] / 1e3, row["queue_packets"], row["packet_error_rate"],
        row.get("ack_error_rate", 0), start, row.get("down_dur_s", 0), row["duration_s"],
        rng.integers(1 << 62), int(row.get("idle_restart", 1)), int("kind" in row),
        2 if "rate_2_bps" in row else 1, 2 if pair else 1,
    ]  # fmt: skip
    if "rate_2_bps" in row:
        words += [
            int(row["rate_2_bps"]), row["delay_2_oneway_ms"] / 1e3, row["queue_2_packets"],
            row["packet_error_rate_2"], 0, 0, 0, int(row["backup"]),
        ]  # fmt: skip
    for flow in ("_1", "_2") if pair else ("",):
        extra = row["extra_delay_2_ms"] / 1e3 if flow == "_2" else 0
        words += [
            row[f"congestion_control{flow}"], rng.uniform(0, 1) if pair else 0, extra,
            row.get("window_clamp_bytes", 0), row.get("segments", 0), row.get("message_bytes", 0),
            row.get("pause_s", 0), int(row.get("autotuning", 0)),
        ]  # fmt: skip
    return " ".join(map(str, words))


def run_link(link: Path, lines: list[str]) -> list[dict[str, Any]]:
    """Return the results of runs that are made at the same time."""
    done = subprocess.run(
        [link], input="\n".join(lines), capture_output=True, text=True, start_new_session=True, check=False
    )
    found = [json.loads(line) for line in done.stdout.splitlines()]
    if len(found) != len(lines):
        raise SystemExit(f"error: the link ended with {done.returncode}: {done.stderr.strip()}")
    return found


def outcomes(row: dict[str, Any], values: dict[str, Any]) -> dict[str, float]:
    """Return the outcomes of a run by their names in the references."""
    flows = values.pop("flows")
    if len(flows) == 1:
        found = values | flows[0] | {"timeouts": values["all_timeouts"]}
        messages = found.pop("messages")
        if messages:
            found |= {"messages": len(messages), "message_mean_s": float(np.mean(messages))}
            for percent in 50, 95:
                found[f"message_p{percent}_s"] = float(np.percentile(messages, percent))
        if not found["hystart_exits"]:
            del found["hystart_exit_cwnd"]
        return found
    total = sum(flow["settled_Bps"] for flow in flows)
    found = values | {"total_goodput_Bps": total, "share_1": flows[0]["settled_Bps"] / total}
    for k, flow in enumerate(flows, start=1):
        found[f"goodput_{k}_Bps"] = flow["settled_Bps"]
        found[f"mean_srtt_{k}_s"] = flow["mean_srtt_s"]
        found |= {f"{name}_{k}": flow[name] for name in ("rexmit_packets", "timeouts", "mean_cwnd_packets")}
    return found
