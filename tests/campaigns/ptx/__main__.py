"""PTX of the models: assembled and run without a device; verdicts are stored.

Without names it checks all cases: the models of the covering set, and some more (see `cases`). It translates
each model to PTX, assembles it, and runs it on the CPU. All outcomes must equal those of the compiled kernel.
"""

import datetime
import functools
import multiprocessing
import os
import shlex
import sys
import tempfile
import traceback
from collections.abc import Iterator
from concurrent import futures
from pathlib import Path

from tests import campaigns
from tests.campaigns.ptx import checks, lanes, verdicts
from tests.campaigns.ptx.cases import cases

BATCH = 8
"""Cases per process. Compilers keep memory, and processes of a pool that end by themselves block it in
Python 3.11."""

Outcome = tuple[str, dict[str, object] | None, str]
"""Name of a case, its verdict, or None and the reason."""


def examine(name: str, *, anyway: bool = True) -> Outcome:
    """Check one case; PTX that has a verdict is checked only if `anyway`."""
    case = cases()[name]
    before = verdicts.stored().get(name, {})
    several = checks.ARCHITECTURES if name == "tcp_newreno" else checks.ARCHITECTURES[2:3]
    try:
        text = checks.ptx_of(case)
        if not anyway and before.get("ptx") == verdicts.ptx_hash(text):
            return name, before | {"sources": verdicts.sources_hash(case)}, ""
        with tempfile.TemporaryDirectory() as folder:
            found = checks.check(case, text, Path(folder), architectures=several)
            together = lanes.check(name, Path(folder))
    except Exception as error:
        place = traceback.extract_tb(error.__traceback__)[-1]
        return name, None, f"{type(error).__name__} at {Path(place.filename).name}:{place.lineno}: {error}"
    command = f"python -m tests.campaigns ptx {shlex.quote(name)}"
    return name, {
        "sources": verdicts.sources_hash(case),
        "ptx": verdicts.ptx_hash(text),
        "rows": found.rows,
        **found.machine._asdict(),
        **together,
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "command": command,
    }, ""


def outcomes(names: list[str], processes: int, *, anyway: bool) -> Iterator[Outcome]:
    """Check cases in parallel, and yield the outcomes when they are ready."""
    check = functools.partial(examine, anyway=anyway)
    if processes == 1:
        yield from map(check, names)
        return
    spawn = multiprocessing.get_context("spawn")
    for some in batched(names, BATCH * processes):
        with futures.ProcessPoolExecutor(processes, mp_context=spawn) as pool:  # raises if one is killed
            for done in futures.as_completed([pool.submit(check, name) for name in some]):
                yield done.result()


def batched(names: list[str], size: int) -> Iterator[list[str]]:
    """Yield the names in lists of `size`."""
    for first in range(0, len(names), size):
        yield names[first : first + size]


def main() -> int:
    """Check cases, store the verdicts of those that pass, and return 1 if one fails."""
    parser = campaigns.parser(__doc__)
    parser.add_argument("cases", nargs="*", metavar="CASE", help="all cases unless given")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--stale", action="store_true", help="only changed PTX")
    parser.add_argument("--list", action="store_true", help="print the cases and check none")
    given = parser.parse_args()
    known = cases()
    if unknown := sorted({*given.cases} - {*known}):
        parser.error(f"unknown cases: {', '.join(unknown)}")
    names = given.cases or [*known]
    if given.stale:
        before = verdicts.stored()
        names = [n for n in names if before.get(n, {}).get("sources") != verdicts.sources_hash(known[n])]
    if given.list:
        print(*names, f"{len(names)} of {len(known)} cases", sep="\n")
        return 0
    failed = 0
    found = outcomes(names, given.processes, anyway=not given.stale)
    for number, (name, verdict, reason) in enumerate(found, 1):
        if verdict is None:
            failed += 1
            print(f"{number} of {len(names)}  {name}: FAILED: {reason}", flush=True)
            continue
        verdicts.store({name: verdict}, only={*known})
        said = ", ".join(f"{key} {value}" for key, value in verdict.items() if key not in ("command", "date"))
        print(f"{number} of {len(names)}  {name}: passes; {said}", flush=True)
    print(f"{len(names) - failed} of {len(names)} cases pass.")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
