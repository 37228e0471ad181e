"""Progress of a run: a callback, or a line on stderr that is rewritten."""

import sys
import time
from collections.abc import Callable

EVERY_S = 0.2
"""Minimum time between two updates of the line [s]."""

Report = Callable[[int, int], object]
"""Callback that receives (done, total)."""
Progress = Report | bool
"""Progress option: a callback, or True for a line on stderr."""


def reporter(progress: Progress | None, what: str = "replications") -> Report | None:
    """Return the callback for a progress option; None if progress is off."""
    if isinstance(progress, bool) or progress is None:
        return _line(what) if progress else None
    return progress


def _line(what: str) -> Report:
    due = 0.0

    def write(done: int, total: int) -> None:
        nonlocal due
        over = done >= total
        if over or time.monotonic() >= due:
            due = time.monotonic() + EVERY_S
            end = "\n" if over else ""
            share = 100 * done // max(total, 1)
            print(f"\r{share:3d} %: {done} of {total} {what}", end=end, file=sys.stderr, flush=True)

    return write
