"""Every model on a CUDA device: equality with the CPU, bit for bit, and speed.

    python -m tests.campaigns gpu prepare FOLDER    where Numba, numba-cuda and ptxas are, no device needed
    python -m tests.campaigns gpu measure FOLDER    where CuPy and a device are, from a checkout
    python -m tests.campaigns gpu rehearse FOLDER  both, in an empty folder, on an emulated device (with gcc)

`prepare` leaves PTX, machine code, random scenarios and the CPU's outcomes in FOLDER.  `measure` needs
FOLDER, this checkout, CuPy and NumPy, nothing else (netcarlo need not be installed), and ends within
`--budget` seconds. Each model has its own process with a time limit; a crash or timeout is a line of the
table. All models run with their random scenarios and the first size, then with the other sizes while time is
left.  The table is printed and written to measured.json, rows that differ to differing.csv.  Exit 1 if an
outcome differs or a process failed.

FOLDER/prediction.json, which is copied there, becomes a column: {"tcp_newreno": {"1e5x1": M packets/s}}.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.campaigns import parser
from tests.campaigns.benchmarks.gpu.checkout import use_checkout


def listed(kind: Callable[[str], Any]) -> Callable[[str], list[Any]]:
    """Return a reader of values separated by commas."""
    return lambda text: [kind(word) for word in text.split(",") if word]


def main() -> int:
    """Run a command."""
    use_checkout()
    from netcarlo.kernels import models
    from tests.campaigns.benchmarks.gpu.scenarios import Size

    sizes = listed(Size.read)
    arguments = parser(__doc__)
    commands = ("prepare", "measure", "rehearse", "one")
    arguments.add_argument("command", choices=commands, help="one: a process of measure")
    arguments.add_argument("folder", type=Path)
    add = arguments.add_argument
    add("--models", type=listed(str), default=list(models.NAMES), help="between commas")
    add("--seconds", type=listed(float), default=[1.0, 10.0], help="prepare: of the benchmarks")
    add("--architectures", type=listed(str), default=["sm_90"], help="prepare: of the machine code")
    add("--sizes", type=sizes, default=sizes("1e5x1,1e5x10,1e6x10"), help="measure: rows x seconds of a path")
    add("--budget", type=float, default=540.0, help="measure: seconds in all")
    add("--limit", type=float, default=60.0, help="measure: seconds of a process")
    add("--out", type=Path, help="measure: where to write; FOLDER unless given")
    add("--check", action="store_true", help="one: the random scenarios, too")
    given = arguments.parse_args()
    folder = given.folder.resolve()
    out = (given.out or folder).resolve()
    if given.command == "prepare":
        from tests.campaigns.benchmarks.gpu.prepare import prepare

        prepare(folder, given.models, given.seconds, given.architectures)
        return 0
    if given.command == "rehearse":
        from tests.campaigns.benchmarks.gpu.rehearsal import rehearse

        folder.mkdir(parents=True, exist_ok=True)
        rehearse(folder)
        return 0
    if given.command == "one":
        from tests.campaigns.benchmarks.gpu.one import one

        [name] = given.models
        one(folder, name, given.sizes, out, check=given.check)
        return 0
    from tests.campaigns.benchmarks.gpu.lease import Lease

    lease = Lease(folder, out, given.budget, given.limit)
    return 0 if lease.measure(given.models, given.sizes) else 1
