"""Faults of a single line: each must be noticed by the tests that the table names.

Each mutant of `tests/campaigns/mutants/mutants.yaml` is applied to a copy of the checkout, and the tests that
it names run on the copy.  A mutant is killed if one of them fails.  The exit status is 1 if a mutant survives
that is not proved equivalent.  Without names all mutants are tried, one at a time.
"""

import difflib
import sys
import tempfile
from pathlib import Path

from tests import campaigns
from tests.campaigns.mutants.run import BrokenError, Copy
from tests.campaigns.mutants.table import Mutant, mutants


def main() -> int:
    """Try mutants, print a line for each, and return 1 if one survives."""
    known = mutants()
    parser = campaigns.parser(__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="all mutants unless given")
    parser.add_argument("--list", action="store_true", help="print the table and stop")
    given = parser.parse_args()
    for name in given.names:
        if name not in known:
            near = difflib.get_close_matches(name, known, n=1)
            guess = f"did you mean {near[0]}? " if near else ""
            parser.error(f"mutant {name!r} is unknown; {guess}--list prints all")
    chosen = [known[name] for name in given.names or known]
    if given.list:
        for each in chosen:
            print(f"{each.name:28}  {each.file}: {each.before}  ->  {each.after}")
        return 0
    with tempfile.TemporaryDirectory(prefix="netcarlo-mutants-") as folder:
        return tried(Copy(Path(folder)), chosen)


def tried(copy: Copy, chosen: list[Mutant]) -> int:
    """Try mutants on a copy of the checkout; return 1 if one survives, or one marked as equivalent is
    killed.
    """
    for tier in (1, 2):
        tests = dict.fromkeys(test for each in chosen if each.tier == tier for test in each.tests)
        if tests and (found := copy.test(tests, tier=tier)).killed:
            raise BrokenError(f"{found.test} fails without a mutant: {found.reason}")
    wrong = 0
    for number, each in enumerate(chosen, 1):
        with copy.mutated(each):
            found = copy.test(each.tests, tier=each.tier, own_cache=each.file.startswith("kernels/"))
        word = "killed" if found.killed else "equivalent" if each.equivalent else "SURVIVED"
        wrong += found.killed == bool(each.equivalent)
        detail = f"by {found.test}" if found.killed else each.equivalent or each.breaks
        place = f"{number} of {len(chosen)}  {each.name}: {word} in tier {each.tier}"
        print(f"{place} after {found.seconds:.1f} s: {detail}", flush=True)
    print(f"{len(chosen) - wrong} of {len(chosen)} mutants are killed, or proved equivalent.")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
