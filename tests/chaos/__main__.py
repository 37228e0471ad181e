"""`python -m tests.chaos [ATTACK ...]`: all attacks, or those named, at full size."""

import sys
import tempfile
import time
from pathlib import Path

from tests.chaos.attacks import ATTACKS
from tests.chaos.sweeps import FULL, Sweep


def main() -> None:
    """Run the attacks one by one; a failed one ends it with its traceback."""
    named = sys.argv[1:] or [attack.__name__ for attack in ATTACKS]
    with tempfile.TemporaryDirectory() as folder:
        sweep = Sweep(Path(folder), FULL)
        started = time.monotonic()
        print(f"undisturbed: digest {sweep.digest}, {sweep.cells} cells, {time.monotonic() - started:.0f} s")
        for attack in ATTACKS:
            if attack.__name__ in named:
                started = time.monotonic()
                attack(sweep, Path(folder) / attack.__name__)
                print(f"{attack.__name__}: same digest, {time.monotonic() - started:.0f} s", flush=True)


if __name__ == "__main__":
    main()
