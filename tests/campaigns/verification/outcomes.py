"""Bounds of outcomes and relations between them, in random scenarios of all families and fidelities.

    python -m tests.campaigns outcomes SCENARIOS [--first N] [--family FAMILY] [--fidelity FIDELITY]

Checks at least SCENARIOS scenarios and prints the violations.  Kernels run as plain Python, so that nothing
is compiled. Exit 1 if there is one.
"""

import time
from collections import Counter

from tests.campaigns import parser
from tests.properties.outcomes import FIDELITIES, broken, run
from tests.properties.scenarios import FAMILIES, draw


def main() -> int:
    """Check the requested number of scenarios and print the violations; return 1 if there is one."""
    arguments = parser(__doc__)
    arguments.add_argument("scenarios", type=int, help="at least so many")
    arguments.add_argument("--first", type=int, default=0, help="the number of the first one of each family")
    arguments.add_argument("--family", choices=FAMILIES, help="only this one")
    arguments.add_argument("--fidelity", choices=FIDELITIES, help="only this one")
    given = arguments.parse_args()
    started, faults, number = time.monotonic(), 0, given.first
    ran: Counter[tuple[str, str]] = Counter()
    while ran.total() < given.scenarios:
        for family in [given.family] if given.family else FAMILIES:
            for fidelity in [given.fidelity] if given.fidelity else FIDELITIES:
                if (drawn := draw(number, family=family, fidelity=fidelity)) is None:
                    continue
                feature, scenario = drawn
                ran[family, fidelity] += 1
                for text in broken(run(scenario)):
                    faults += 1
                    print(f"{family} {number} ({feature}) by {fidelity}: {text}", flush=True)
        number += 1
    print(f"{ran.total()} scenarios, numbers {given.first} to {number - 1}: {faults} faults")
    print(", ".join(f"{family} by {fidelity} {count}" for (family, fidelity), count in ran.items()))
    print(f"{time.monotonic() - started:.0f} s")
    return 1 if faults else 0
