"""Compile speed of this machine relative to the machine of the table in `base.compile_time`.

The last compilations are kept in the cache folder, as pairs of seconds: the time by the table and the time
taken.
"""

import json
import math
import os
import statistics
import tempfile
from pathlib import Path

from netcarlo.kernels.runtime import cache

NAME = "pace.json"
KEPT = 12
"""Number of compilations that are remembered."""

LEAST, MOST = 0.1, 20.0
"""Bounds of the ratio, whatever the file contains."""


def _file() -> Path:
    return cache.folder() / NAME


def _ratios() -> list[float]:
    """Return the remembered ratios, oldest first; none if the file is missing or damaged."""
    try:
        found = json.loads(_file().read_text(encoding="utf-8"))
        ratios = [float(ratio) for ratio in found]
    except (OSError, ValueError, TypeError):
        return []
    return [min(max(ratio, LEAST), MOST) for ratio in ratios if math.isfinite(ratio)][-KEPT:]


def factor() -> float:
    """Return the median ratio of the last compilations to the table, or 1 before the first."""
    return statistics.median(_ratios() or [1.0])


def remember(expected_s: float, took_s: float) -> None:
    """Record the time of a compilation [s] for later forecasts, if the cache folder can be written."""
    if expected_s <= 0.0 or not cache.writable():
        return
    ratios = [*_ratios(), round(took_s / expected_s, 3)][-KEPT:]
    try:
        with tempfile.NamedTemporaryFile("w", dir=cache.folder(), delete=False, encoding="utf-8") as file:
            json.dump(ratios, file)
        os.replace(file.name, _file())
    except OSError:
        pass
