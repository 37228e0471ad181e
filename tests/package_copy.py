"""Copies of the package with additions, run in processes of their own."""

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).parents[1]


def build(folder: Path, *, files: Mapping[str, str], lines: Mapping[str, Mapping[str, str]]) -> Path:
    """Build an importable copy of the package in a folder, and return the folder.

    `files` are added, by their path in the package. `lines` are inserted into existing files: by file, and by
    the line that each follows.
    """
    here = folder / "netcarlo"
    skip = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "estimator", here, ignore=skip)
    for part in ("kernels", "configs"):
        shutil.copytree(ROOT / part, here / part, ignore=skip)
    (here / "reports").symlink_to(ROOT / "reports")
    for name, text in files.items():
        (here / name).parent.mkdir(parents=True, exist_ok=True)
        (here / name).write_text(text)
    for name, added in lines.items():
        text = (here / name).read_text()
        for line, following in added.items():
            assert text.count(f"{line}\n") == 1, f"{name}: {line}"
            text = text.replace(f"{line}\n", f"{line}\n{following}\n")
        (here / name).write_text(text)
    return folder


def run_python(folder: Path, *command: str) -> str:
    """Return the output of Python, run with these arguments and with the copied package."""
    environment = {**os.environ, "PYTHONPATH": str(folder), "NETCARLO_CACHE": str(folder / "cache")}
    done = subprocess.run(
        [sys.executable, "-P", *command],
        env=environment, cwd=folder, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout
