"""Runs of the TCP of the kernel that runs here, as reference files that `netcarlo validate` takes.

    python -m tests.verification.kernel --out linux_kernel_bulk.csv bulk 40
    python -m tests.verification.kernel --out FILE.csv again linux_kernel_bulk.csv --ids 16 43 --runs 32

The first draws scenarios (`bulk`, `finite`, `tuned`, `messages`, `outage`, `pair`, `edges`: see `drawn`), the
second repeats those of a file with other seeds.  It takes root, gcc and real time (30 to 60 s a run, or until
a transfer is complete; some side by side); what comes of it is that of a real network stack.
"""

import argparse
from pathlib import Path

import pandas as pd

from tests.verification.kernel.drawn import KINDS, drawn
from tests.verification.kernel.runs import measured


def main() -> None:
    """Write the file."""
    parser = argparse.ArgumentParser(prog="python -m tests.verification.kernel", description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--seed", type=int, default=1)
    actions = parser.add_subparsers(dest="action", required=True)
    for kind in KINDS:
        actions.add_parser(kind).add_argument("count", type=int)
    again = actions.add_parser("again")
    again.add_argument("file", type=Path)
    again.add_argument("--ids", type=int, nargs="*")
    again.add_argument("--runs", type=int, default=16)
    given = parser.parse_args()
    if given.action == "again":
        rows = pd.read_csv(given.file)
        rows = rows[rows["id"].isin(given.ids)] if given.ids else rows
        rows = rows.assign(n_seeds=given.runs)
    else:
        rows = drawn(given.action, given.count, seed=given.seed)
    measured(rows, seed=given.seed).to_csv(given.out, index=False)


if __name__ == "__main__":
    main()
