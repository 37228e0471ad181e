"""Runs ns-2 for a benchmark."""

import resource
import subprocess
import tempfile
from pathlib import Path


def run_ns2(script: str) -> tuple[int, float]:
    """The last number that an ns-2 script prints, and the seconds of processor time it takes."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "script.tcl"
        file.write_text(script)
        before = _children_s()
        done = subprocess.run(["ns", str(file)], cwd=folder, capture_output=True, text=True, check=True)
        return int(done.stdout.split()[-1]), _children_s() - before


def _children_s() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime
