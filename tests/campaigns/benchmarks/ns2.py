"""Runs of ns-2 for a benchmark."""

import math
import resource
import subprocess
import tempfile
from pathlib import Path
from typing import NamedTuple

PEAK = "puts [exec grep VmHWM /proc/[pid]/status]"
"""Line of a script that prints the peak memory of its process."""


class Ran(NamedTuple):
    """A run of ns-2."""

    number: int
    """Number after the word `result` in the output of the script, or else the last number."""
    seconds: float
    """Processor time [s]."""
    memory: float
    """Memory that the script prints after `PEAK` [MiB], or NaN."""


def run_ns2(script: str) -> tuple[int, float]:
    """Return the number printed after `result`, or else the last number, and the processor time [s]."""
    number, seconds, _ = ran_ns2(script)
    return number, seconds


def ran_ns2(script: str) -> Ran:
    """Run an ns-2 script; return its result, processor time and memory. Raises CalledProcessError."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "script.tcl"
        file.write_text(script)
        before = _children_s()
        done = subprocess.run(["ns", str(file)], cwd=folder, capture_output=True, text=True, check=True)
        words = done.stdout.split()
        number = words[words.index("result") + 1] if "result" in words else words[-1]
        memory = int(words[words.index("VmHWM:") + 1]) / 1024 if "VmHWM:" in words else math.nan
        return Ran(int(number), _children_s() - before, memory)


def _children_s() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime
