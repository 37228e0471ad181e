"""Files and options with errors: each is accepted, or soon refused with one line for each error.

    python -m tests.campaigns fuzz [--cases 100000] [--seed 1] [--processes P]
    python -m tests.campaigns fuzz --case N [--seed 1]

The shipped files must be accepted. Prints how many cases had each outcome. Exit 1 if a case went wrong, or if
more than 3 % of the error messages name something other than the mutated part of the file.
"""

import os
import sys
import time

from tests.campaigns import parser
from tests.campaigns.fuzz.run import MOST_UNNAMED, Found, refused_seeds, run, run_all
from tests.campaigns.fuzz.seeds import seeds


def main() -> int:
    """Run the cases and print the counts; exit 1 if one went wrong."""
    arguments = parser(__doc__)
    arguments.add_argument("--cases", type=int, default=100_000)
    arguments.add_argument("--seed", type=int, default=1)
    arguments.add_argument("--processes", type=int, default=os.cpu_count())
    arguments.add_argument("--case", type=int, help="only this one")
    given = arguments.parse_args()
    refused = refused_seeds(seeds())
    for line in refused:
        print(f"shipped file is refused: {line}")
    started = time.monotonic()
    if given.case is not None:
        found = run(range(given.case, given.case + 1), given.seed)
    else:
        found = Found()
        for part in run_all(given.cases, seed=given.seed, processes=given.processes):
            found.add(part)
            done = sum(found.counts.values())
            for line in part.wrong:
                print(f"\r{line}", file=sys.stderr)
            print(f"\r{done} of {given.cases}, {len(found.wrong)} wrong", end="", file=sys.stderr, flush=True)
        print(file=sys.stderr)
    for outcome, count in found.counts.most_common():
        print(f"{count:8}  {outcome}")
    print(
        f"{time.monotonic() - started:.0f} s; processor time {found.processor_s:.0f} s, the longest case",
        end=" ",
    )
    print(f"{found.longest_s:.2f} s; memory {found.peak_bytes / 2**20:.0f} MiB at most")
    for line in [*found.wrong[:100], *found.unnamed[:20]]:
        print(line)
    if found.badly_named:
        print(f"over {100 * MOST_UNNAMED:.0f} % of the messages name something other than the mutation")
    return 1 if found.wrong or refused or (found.badly_named and given.case is None) else 0
