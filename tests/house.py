"""A copy of the house in which something is added, and which is asked in a process of its own."""

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).parents[1]


def build(
    house: Path, *, files: Mapping[str, str], lines: Mapping[str, Mapping[str, str]]
) -> Path:
    """An importable copy in the folder `house`, which is returned.

    `files` are new, by their path in the package; `lines` are added to those that there are: by file, by the
    line that each follows.
    """
    here = house / "netcarlo"
    skip = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "estimator", here, ignore=skip)
    for folder in ("kernels", "configs"):
        shutil.copytree(ROOT / folder, here / folder, ignore=skip)
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
    return house


def ask(house: Path, *command: str) -> str:
    """What Python prints with these arguments in that house."""
    environment = {**os.environ, "PYTHONPATH": str(house), "NETCARLO_CACHE": str(house / "cache")}
    done = subprocess.run(
        [sys.executable, "-P", *command],
        env=environment, cwd=house, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout
