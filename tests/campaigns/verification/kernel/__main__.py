"""Runs of the TCP of the running Linux kernel, written as reference files that `netcarlo validate` reads.

    python -m tests.campaigns kernel --out linux_kernel_bulk.csv bulk 40
    python -m tests.campaigns kernel --out FILE.csv again linux_kernel_bulk.csv --ids 16 43 --runs 32

The first draws scenarios (`bulk`, `finite`, `tuned`, `messages`, `outage`, `pair`, `edges`, `mptcp_bulk`,
`mptcp_finite`, `mptcp_outage`: see `drawn`), the second repeats those of a file with other seeds.  It needs
root and gcc, and `ip` for MPTCP. It runs in real time (30 to 60 s per run, or until a transfer is complete;
some runs in parallel), because a real network stack produces the results.  Link and hosts have real-time
priority (SCHED_FIFO) where it is allowed, which the column `real_time` records.
"""

from pathlib import Path

import pandas as pd

from tests.campaigns import parser
from tests.campaigns.verification.kernel.drawn import KINDS, drawn
from tests.campaigns.verification.kernel.runs import measured


def main() -> None:
    """Write the file."""
    arguments = parser(__doc__)
    arguments.add_argument("--out", type=Path, required=True)
    arguments.add_argument("--seed", type=int, default=1)
    actions = arguments.add_subparsers(dest="action", required=True)
    for kind in KINDS:
        actions.add_parser(kind).add_argument("count", type=int)
    again = actions.add_parser("again")
    again.add_argument("file", type=Path)
    again.add_argument("--ids", type=int, nargs="*")
    again.add_argument("--runs", type=int, default=16)
    given = arguments.parse_args()
    if given.action == "again":
        rows = pd.read_csv(given.file)
        rows = rows[rows["id"].isin(given.ids)] if given.ids else rows
        rows = rows.assign(n_seeds=given.runs)
    else:
        rows = drawn(given.action, given.count, seed=given.seed)
    measured(rows, seed=given.seed).to_csv(given.out, index=False)
