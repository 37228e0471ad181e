"""Reproductions of the wireless studies, made once for the tests of their numbers and of their pages."""

import atexit
import functools
import shutil
import tempfile
from pathlib import Path

from netcarlo.reports.study.reproduce import reproduce
from netcarlo.studies.evaluation import Evaluation


@functools.cache
def reproduction(study: str) -> tuple[Path, Evaluation]:
    """The folder with the pages of a study, two replications a cell, and what they show."""
    out = Path(tempfile.mkdtemp(prefix=f"netcarlo-{study}-"))
    atexit.register(shutil.rmtree, out, ignore_errors=True)
    return out, reproduce([study], out=out, replications=2, target="cpu")[0]
