"""Cells of the study `link_down_today`, run on real stacks, as rows of its `published.csv`.

    python -m tests.campaigns link_down kernel --out kernel.csv [--runs 2]
    python -m tests.campaigns link_down usrsctp --out usrsctp.csv

TCP and MPTCP by the running Linux kernel (`kernel`: root and real time, about 17 minutes per run of each
cell), SCTP by usrsctp and QUIC by ngtcp2 (both in virtual time). Rates, delays and queues are those of the
study's scenarios.
"""

import platform
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from netcarlo.studies.study import Study, load
from tests.campaigns import parser
from tests.campaigns.verification.kernel import runs as kernel
from tests.campaigns.verification.quic import runs as quic
from tests.campaigns.verification.usrsctp import runs as usrsctp
from tests.campaigns.verification.usrsctp.drawn import NO_PF

START_S = 49.0
"""Earliest failure of the link after the start of the transfer [s]; it fails up to 1 s later."""
RUNS = {"kernel": 2, "usrsctp": 10, "ngtcp2": 10}
"""Number of runs of each cell; without an outage all runs of usrsctp and of ngtcp2 are equal."""
TRANSPORTS = {
    "kernel": ("tcp", "mptcp", "mptcp_backup"),
    "usrsctp": ("sctp_rfc9260", "sctp_pf", "sctp_cmt"),
    "ngtcp2": ("quic", "quic_migration"),
}
COLUMNS = ("stack", "runs", "table", "transport", "links", "link_down_s", "metric", "published")
TABLES = {"goodput": "1", "silence": "4", "failover": "5"}
"""Tables of the study."""

Row = dict[str, Any]


def rows_of(study: Study, stack: str, links: list[str], down: list[float]) -> list[Row]:
    """Return the cells of a stack with rate, delay and queue of their paths."""
    found = []
    for cell in study.cells():
        if cell["transport"] not in TRANSPORTS[stack] or cell["links"] not in links:
            continue
        if cell["link_down_s"] not in down:
            continue
        paths = study.scenario(cell, seed=1).paths or []
        row = {**cell, "loss": 0.0, "duration_s": 100, "down_start_s": START_S, "down_s": cell["link_down_s"]}
        for k, path in enumerate(paths, start=1):
            hop = path.hops[0]
            row |= {f"rate_{k}_bps": int(hop.rate), f"delay_{k}_ms": 1e3 * hop.delay}
            row[f"queue_{k}_packets"] = int(hop.queue)
        found.append(row)
    return found


def by_kernel(rows: list[Row], runs: int, seed: int) -> Iterator[tuple[str, Row, list[Row]]]:
    """Yield the name of the stack, each cell, and the outcomes of its runs."""
    for several in False, True:  # the columns of a second path are present or not
        some = [row for row in rows if ("rate_2_bps" in row) == several]
        table = pd.DataFrame([_of_kernel(row) | {"n_seeds": 1} for row in some for _ in range(runs)])
        found = kernel.measured(table, seed=seed).to_dict("records")
        for k, row in enumerate(some):
            each = [_outcomes(row, one) for one in found[k * runs : (k + 1) * runs]]
            yield f"Linux {platform.release().split('-')[0]}", row, each


def _of_kernel(row: Row) -> Row:
    found = _of_paths(row)
    if "rate_2_bps" in row:
        found |= {"backup": int(row["transport"] == "mptcp_backup")}
    return found


def _of_paths(row: Row) -> Row:
    """Return the paths in the columns of the references."""
    found = _of_first(row)
    if "rate_2_bps" in row:
        found |= {name: row[name] for name in ("rate_2_bps", "queue_2_packets")}
        found |= {"delay_2_oneway_ms": row["delay_2_ms"], "packet_error_rate_2": 0.0}
    return found


def _of_first(row: Row) -> Row:
    """Return the first path in the columns of the references."""
    return {
        "rate_bps": row["rate_1_bps"], "delay_oneway_ms": row["delay_1_ms"],
        "queue_packets": row["queue_1_packets"], "packet_error_rate": 0.0, "congestion_control": "cubic",
        "duration_s": row["duration_s"], "down_start_s": row["down_start_s"], "down_dur_s": row["down_s"],
    }  # fmt: skip


def _outcomes(row: Row, one: Row) -> Row:
    """Return goodput [Mbit/s] and longest silence [s] from the columns of the references."""
    found = {"goodput": one["goodput_Bps_mean"] * 8e-6}
    if row["down_s"] and "rate_2_bps" in row:
        found["silence"] = one["longest_silence_s_mean"]
    elif row["down_s"] and "restart_after_up_s_mean" in one:
        found["silence"] = row["down_s"] + one["restart_after_up_s_mean"] + row["delay_1_ms"] / 1e3
    return found


def by_ngtcp2(rows: list[Row], runs: int, seed: int) -> Iterator[tuple[str, Row, list[Row]]]:
    """Yield the name of the stack, each cell, and the outcomes of its runs by ngtcp2."""
    for several in False, True:
        some = [row for row in rows if ("rate_2_bps" in row) == several]
        more = {"n_seeds": 1, "migrate_after": 2 * several}
        table = pd.DataFrame([_of_paths(row) | more for row in some for _ in range(runs)])
        stack, measured = quic.measured(table, seed=seed)
        found = measured.to_dict("records")
        for k, row in enumerate(some):
            yield stack, row, [_outcomes(row, one) for one in found[k * runs : (k + 1) * runs]]


def by_usrsctp(rows: list[Row], runs: int, seed: int) -> Iterator[tuple[str, Row, list[Row]]]:
    """Yield the same as `by_kernel` for usrsctp, with the time at which new data use the second path [s]."""
    more = {"ack_loss": 0.0, "min_rto_s": 1.0, "heartbeat_s": 30.0, "path_max_retrans": 5}
    starts = START_S + np.random.default_rng(seed).uniform(0, 1, runs)
    every = [
        row | more | {
            "pf_max_retrans": 0 if row["transport"] == "sctp_pf" else NO_PF,
            "cmt": int(row["transport"] == "sctp_cmt"), "down_start_s": float(start),
        }
        for row in rows for start in starts
    ]  # fmt: skip
    found = usrsctp.of_stack(every, seed=seed)
    for k, row in enumerate(rows):
        each = []
        for one in found[k * runs : (k + 1) * runs]:
            each.append({"goodput": one["goodput_bps"] * 1e-6})
            if row["down_s"]:
                each[-1]["silence"] = one["silence_s"]
            if row["transport"] == "sctp_pf" and row["down_s"]:
                each[-1]["failover"] = one["moved_s"]
        yield "usrsctp 0.9.5.0", row, each


STACKS: dict[str, Callable[[list[Row], int, int], Iterator[tuple[str, Row, list[Row]]]]] = {
    "kernel": by_kernel, "usrsctp": by_usrsctp, "ngtcp2": by_ngtcp2,
}  # fmt: skip


def published(stack: str, rows: list[Row], runs: int, *, seed: int) -> pd.DataFrame:
    """Return the means of the runs as rows of `published.csv`."""
    lines = []
    for name, row, each in STACKS[stack](rows, runs, seed):
        frame = pd.DataFrame(each)
        for metric in frame:
            mean = frame[metric].mean()
            if not np.isnan(mean):
                place = {"stack": name, "runs": int(frame[metric].count()), "table": TABLES[metric]}
                lines.append({**row, **place, "metric": metric, "published": f"{mean:.4g}"})
    return pd.DataFrame(lines)[list(COLUMNS)]


def main() -> None:
    """Write the rows of a stack."""
    arguments = parser(__doc__)
    arguments.add_argument("stack", choices=STACKS)
    arguments.add_argument("--out", type=Path, required=True)
    arguments.add_argument("--runs", type=int)
    arguments.add_argument("--seed", type=int, default=1)
    arguments.add_argument("--links", nargs="+", default=["paper", "wifi_lte", "dsl_lte", "fibres"])
    arguments.add_argument("--down", type=float, nargs="+", default=[0, 5, 10, 20], help="outages [s]")
    given = arguments.parse_args()
    rows = rows_of(load("link_down_today"), given.stack, given.links, given.down)
    runs = given.runs or RUNS[given.stack]
    published(given.stack, rows, runs, seed=given.seed).to_csv(given.out, index=False)
