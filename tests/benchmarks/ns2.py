"""Runs ns-2 for a benchmark."""

import resource
import subprocess
import tempfile
from pathlib import Path


def run_ns2(script: str) -> tuple[int, float]:
    """The number behind the word `result` that an ns-2 script prints, or else the last number, and the
    seconds of processor time it takes."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "script.tcl"
        file.write_text(script)
        before = _children_s()
        done = subprocess.run(["ns", str(file)], cwd=folder, capture_output=True, text=True, check=True)
        words = done.stdout.split()
        number = words[words.index("result") + 1] if "result" in words else words[-1]
        return int(number), _children_s() - before


def _children_s() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime
