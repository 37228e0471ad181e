"""Scenarios as runs of the stack and of netcarlo, and their results."""

import json
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from netcarlo import Scenario, trace
from tests.campaigns.verification.usrsctp.drawn import NO_PF, WINDOW

PAYLOAD = 1452
SOURCE = Path(__file__).with_name("stack.c")
INITIAL_CWND, ABC_LIMIT, T3_RESTART = 3 * 1488, 2, False
"""Initial window [byte], L and timer of usrsctp (`sctp_initial_cwnd`, `sctp_L2_abc_variable`,
`sctp_express_handle_sack`)."""


def runs_of(row: dict[str, Any], *, seed: int) -> list[dict[str, Any]]:
    """Return the runs of a scenario: an outage begins up to 2 s later, for all phases of a timer."""
    rng = np.random.default_rng([seed, row["id"]])
    starts = row["down_start_s"] + np.round(rng.uniform(0, 2, row["n_seeds"]), 4)
    return [row | {"down_start_s": float(start)} for start in starts]


def of_stack(runs: Sequence[dict[str, Any]], *, seed: int) -> list[dict[str, float]]:
    """Return the outcomes of runs by usrsctp."""
    with tempfile.TemporaryDirectory() as folder:
        stack = Path(folder) / "stack"
        subprocess.run(["gcc", "-O2", "-o", stack, SOURCE, "-lusrsctp", "-lpthread"], check=True)
        lines = "\n".join(line_of(run, seed + k) for k, run in enumerate(runs))
        done = subprocess.run([stack], input=lines, capture_output=True, text=True, check=True)
    found = [json.loads(line) for line in done.stdout.splitlines()]
    return [outcomes(*pair) for pair in zip(runs, found, strict=True)]


def line_of(row: dict[str, Any], seed: int) -> str:
    """Return a run as stack.c reads it."""
    both = (f"{name}_{path}_{unit}" for name, unit in (("rate", "bps"), ("delay", "ms"), ("queue", "packets"))
            for path in (1, 2))  # fmt: skip
    each = [row[name] / 1e3 if name.endswith("_ms") else row[name] for name in both]
    words = [
        *each, row["loss"], row["ack_loss"], row["down_start_s"], row["down_s"], row["duration_s"],
        row["min_rto_s"], row["heartbeat_s"], row["path_max_retrans"], row["pf_max_retrans"], WINDOW,
        row["cmt"], 0, seed,
    ]  # fmt: skip
    return " ".join(map(str, words))


def outcomes(row: dict[str, Any], run: dict[str, float]) -> dict[str, float]:
    """Return goodput, retransmissions and times of a run; NaN for a time that did not occur."""
    found = {"goodput_bps": 8 * run["delivered_bytes"] / row["duration_s"]}
    found |= {name: run[name] for name in ("sent", "retransmitted", "sent_alternate", "silence_s")}
    up = row["down_start_s"] + row["down_s"]
    moved, returned = (run[name] if run[name] >= 0 else np.nan for name in ("moved_s", "returned_s"))
    if row["down_s"] > 0:
        found |= {"moved_s": moved - row["down_start_s"], "returned_s": returned - up}
    return found


def scenario_of(row: dict[str, Any]) -> Scenario:
    """Return a scenario of netcarlo, with the settings of usrsctp that differ from RFC 9260."""
    down = [{"start": f"{row['down_start_s']} s", "duration": f"{row['down_s']} s"}] if row["down_s"] else []
    paths = [
        {"hops": [{
            "rate": f"{row[f'rate_{path}_bps']} bit/s", "delay": f"{row[f'delay_{path}_ms']} ms",
            "queue": row[f"queue_{path}_packets"], "loss": row["loss"], "ack_loss": row["ack_loss"],
            "reverse": {"queue": 4000}, "outages": down if path == 1 else [],
        }]}
        for path in (1, 2)
    ]  # fmt: skip
    transport = {
        "protocol": "sctp", "rules": "rfc9260", "receiver_window": f"{WINDOW} B",
        "initial_ssthresh": f"{WINDOW} B", "initial_cwnd": f"{INITIAL_CWND} B", "abc_limit": ABC_LIMIT,
        "min_rto": f"{row['min_rto_s']} s", "path_max_retrans": row["path_max_retrans"],
        "heartbeat_interval": f"{row['heartbeat_s']} s", "t3_restart": T3_RESTART,
    }  # fmt: skip
    if row["cmt"]:
        transport["cmt"] = True
    if row["pf_max_retrans"] != NO_PF:
        transport["pf_max_retrans"] = row["pf_max_retrans"]
    return Scenario.check({"duration": f"{row['duration_s']} s", "transport": transport, "paths": paths})


def of_netcarlo(runs: Sequence[dict[str, Any]]) -> list[dict[str, float]]:
    """Return the outcomes of runs by netcarlo; times are those of its traces."""
    found = []
    for number, row in enumerate(runs):
        frame, table = trace(scenario_of(row), replication=number)
        of = table.frame.iloc[0]
        sent = frame[frame.event == "send"]
        new = sent[~sent.sequence.duplicated()]
        up = row["down_start_s"] + row["down_s"]
        moved = new.time_s[(new.path == 1) & (new.time_s > row["down_start_s"])]
        returned = new.time_s[(new.path == 0) & (new.time_s >= up)]
        one = {
            "goodput_bps": of.in_order * PAYLOAD * 8 / row["duration_s"],
            "silence_s": of.longest_silence_s,
        }
        one |= {name: float(of[name]) for name in ("sent", "retransmitted", "sent_alternate")}
        if row["down_s"] > 0:
            one |= {"moved_s": moved.min() - row["down_start_s"], "returned_s": returned.min() - up}
        found.append(one)
    return found


def compared(rows: pd.DataFrame, *, seed: int) -> pd.DataFrame:
    """Return the scenarios with the medians of both, as columns `usrsctp_NAME` and `netcarlo_NAME`."""
    records = rows.to_dict("records")
    runs = [runs_of(row, seed=seed) for row in records]
    theirs = iter(of_stack([run for each in runs for run in each], seed=seed))
    lines = []
    for row, each in zip(records, runs, strict=True):
        both = {"usrsctp": [next(theirs) for _ in each], "netcarlo": of_netcarlo(each)}
        medians = {by: pd.DataFrame(found).median() for by, found in both.items()}
        lines.append(row | {f"{by}_{name}": of[name] for by, of in medians.items() for name in of.index})
    return pd.DataFrame(lines)
