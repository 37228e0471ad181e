"""Run tests on a copy of the checkout in which one mutant is applied."""

import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.campaigns.mutants.table import Mutant

ROOT = Path(__file__).parents[3]

LIMIT_S = 600.0
"""Time limit for the tests of a mutant [s]; a mutant that exceeds it counts as detected."""

_SITE = ".site"
_FAILED = re.compile(r"^FAILED(?: in \w+)? (.+) \(\d+\.\d s\): (.*)", re.MULTILINE)
_PASSED, _SOME_FAILED = 0, 1  # exit statuses of pytest


class BrokenError(Exception):
    """The tests prove nothing: none ran, or they do not pass without a mutant."""


@dataclass(frozen=True)
class Result:
    """Result of the tests on a mutant."""

    test: str
    """First test that failed; empty if the mutant survived."""
    reason: str
    seconds: float

    @property
    def killed(self) -> bool:
        """True if a test detected the mutant."""
        return bool(self.test)


class Copy:
    """Copy of the files of the checkout that git does not ignore, as a separate package `netcarlo`."""

    def __init__(self, folder: Path, root: Path = ROOT) -> None:
        """Copy the checkout `root` into an empty folder."""
        self.folder, self.root = folder, root
        for name in _files(root):
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(root / name, folder / name)
        package = folder / _SITE / "netcarlo"
        package.mkdir(parents=True)
        for entry in (*(folder / "estimator").iterdir(), *(folder / n for n in _BESIDE)):
            (package / entry.name).symlink_to(entry)
        self._stamp = 0

    @contextmanager
    def mutated(self, mutant: Mutant) -> Iterator[None]:
        """Apply a mutant, and revert it at the end. Raises ValueError if it does not fit the source."""
        file = self.folder / mutant.file
        file.write_text(mutant.applied_to(file.read_text(encoding="utf-8")), encoding="utf-8")
        self._stamp += 1  # bytecode is stale if the modification time of the source differs
        os.utime(file, (self._stamp, self._stamp))
        try:
            yield
        finally:
            shutil.copy2(self.root / mutant.file, file)

    def test(self, tests: Iterable[str], *, tier: int, own_cache: bool = False) -> Result:
        """Run tests of a tier in one process until one fails.

        `own_cache`: compiled models are kept in the copy.  Raises BrokenError if none of the tests ran.
        """
        select = ["--full"] if tier == 2 else ["-m", "not full"]
        options = ["-x", "-q", "-p", "no:xdist", "-p", "no:cacheprovider", "-o", "addopts=", "--tb=no"]
        imports = ["--import-mode=importlib", "-p", "no:dash"]
        command = [sys.executable, "-m", "pytest", *options, *imports, *select, *tests]
        paths = [str(self.folder / _SITE), str(self.folder)]
        environment = {k: v for k, v in os.environ.items() if not k.startswith("PYTEST_")}
        environment["PYTHONPATH"] = os.pathsep.join(paths)
        if own_cache:
            environment["NETCARLO_CACHE"] = str(self.folder / ".cache")
        begun = time.monotonic()
        try:
            done = subprocess.run(
                command, cwd=self.folder, env=environment, capture_output=True, text=True, check=False,
                timeout=LIMIT_S,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            return Result("all", f"no end after {LIMIT_S:.0f} s", time.monotonic() - begun)
        return verdict(done.returncode, done.stdout + done.stderr, time.monotonic() - begun)


def verdict(status: int, output: str, seconds: float) -> Result:
    """Return the result in pytest's exit status and output. Raises BrokenError if there is none."""
    if status == _PASSED:
        return Result("", "", seconds)
    failed = _FAILED.search(output)
    if status == _SOME_FAILED and failed:
        return Result(failed[1], failed[2], seconds)
    if status < 0:
        return Result("all", f"ended by signal {-status}", seconds)
    last = "\n".join(output.strip().splitlines()[-15:])
    raise BrokenError(f"pytest ended with status {status}:\n{last}")


_BESIDE = "kernels", "configs", "reports"
"""Folders that are packages in `netcarlo`, beside those of `estimator`."""


def _files(root: Path) -> list[str]:
    """Return the files of a checkout, tracked or new, but not those that git ignores."""
    command = ["git", "-C", str(root), "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return [name for name in listed.split("\0") if name and (root / name).is_file()]
