"""Sweeps while processes are killed, files are damaged and disks are full; the results must not change.

    python -m tests.campaigns chaos [ATTACK ...] [--small]

Runs all attacks unless some are named, at full size or at the small size of the tests.
"""

import tempfile
import time
from pathlib import Path

from tests.campaigns import parser
from tests.campaigns.chaos.attacks import ATTACKS
from tests.campaigns.chaos.sweeps import FULL, SMALL, Sweep


def main() -> None:
    """Run the attacks one after the other; the first that fails ends the campaign with its traceback."""
    arguments, every = parser(__doc__), [attack.__name__ for attack in ATTACKS]
    arguments.add_argument("attacks", nargs="*", metavar="ATTACK", help=", ".join(every))
    arguments.add_argument("--small", action="store_true")
    given = arguments.parse_args()
    if unknown := [name for name in given.attacks if name not in every]:
        arguments.error(f"attack {unknown[0]!r} is unknown; choose from {', '.join(every)}")
    named = given.attacks or every
    with tempfile.TemporaryDirectory() as folder:
        sweep = Sweep(Path(folder), SMALL if given.small else FULL)
        started = time.monotonic()
        print(f"undisturbed: digest {sweep.digest}, {sweep.cells} cells, {time.monotonic() - started:.0f} s")
        for attack in ATTACKS:
            if attack.__name__ in named:
                started = time.monotonic()
                attack(sweep, Path(folder) / attack.__name__)
                print(f"{attack.__name__}: same digest, {time.monotonic() - started:.0f} s", flush=True)
