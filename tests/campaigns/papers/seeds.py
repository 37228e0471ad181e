"""Demands of the studies over many seeds, judged as `netcarlo reproduce --check` judges them.

    python -m tests.campaigns seeds [--seeds 25] [--first 1] [--replications N] [study ...]

Each study has its own replications unless `--replications` is given.  Prints a line for each study and
seed, and at the end a table of the demands that were not met beyond doubt on some seed.  Exit 1 if there is
one.
"""

import time
from collections.abc import Callable, Iterable

from netcarlo.errors import InputError
from netcarlo.studies.comparison import Check
from netcarlo.studies.evaluation import evaluate
from netcarlo.studies.study import load, names
from tests.campaigns import parser

Verdicts = dict[tuple[str, str], dict[int, Check]]
"""Results of the demands that were not met, by study and demand, and by seed."""


def judged(study: str, seed: int, replications: int | None) -> list[Check]:
    """Return the demands of a study, judged with a seed.  Raises InputError."""
    return evaluate(load(study), seed=seed, replications=replications, large=True).checks


def over_seeds(
    studies: Iterable[str], seeds: range, judge: Callable[[str, int], list[Check]]
) -> Verdicts:  # fmt: skip
    """Judge each study with each seed, print a line for each, and return the demands that were not met."""
    found: Verdicts = {}
    for study in studies:
        for seed in seeds:
            started = time.monotonic()
            checks = judge(study, seed)
            for check in checks:
                if not check.passed:
                    found.setdefault((study, check.text), {})[seed] = check
            met = sum(check.passed for check in checks)
            took = time.monotonic() - started
            print(f"{study}, seed {seed}: {met} of {len(checks)} demands met ({took:.0f} s)", flush=True)
    return found


def table(found: Verdicts, seeds: range) -> str:
    """Return the demands that were not met on some seed, in Markdown."""
    lines = ["| study | demand | seeds | verdict |", "|---|---|---|---|"]
    for (study, demand), by_seed in found.items():
        verdicts = "; ".join(f"seed {k} {check.verdict}: {check.reached}" for k, check in by_seed.items())
        lines.append(f"| {study} | {demand} | {len(by_seed)} of {len(seeds)} | {verdicts} |")
    return "\n".join(lines)


def main() -> int:
    """Return 1 if a demand was not met on some seed."""
    arguments = parser(__doc__)
    arguments.add_argument("studies", nargs="*", metavar="study", help=", ".join(names()))
    arguments.add_argument("--seeds", type=int, default=25, help="number of seeds (25)")
    arguments.add_argument("--first", type=int, default=1, help="first seed (1)")
    arguments.add_argument("--replications", type=int, help="instead of the study's own")
    given = arguments.parse_args()
    studies, seeds = given.studies or names(), range(given.first, given.first + given.seeds)
    try:
        found = over_seeds(studies, seeds, lambda study, seed: judged(study, seed, given.replications))
    except InputError as error:
        arguments.error(str(error))
    if not found:
        print(f"\nall demands were met on seeds {seeds.start} to {seeds.stop - 1}")
        return 0
    print(f"\n{table(found, seeds)}")
    return 1
