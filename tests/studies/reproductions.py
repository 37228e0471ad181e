"""Reproductions of studies, made once for the tests of their numbers and pages."""

import atexit
import functools
import shutil
import tempfile
from pathlib import Path

from netcarlo import reproduce
from netcarlo.reports.study.folder import write_study
from netcarlo.studies.evaluation import Evaluation


@functools.cache
def reproduction(study: str) -> tuple[Path, Evaluation]:
    """Return the folder with the pages of a study, two replications per cell, and their content."""
    out = Path(tempfile.mkdtemp(prefix=f"netcarlo-{study}-"))
    atexit.register(shutil.rmtree, out, ignore_errors=True)
    return out, written(study, out, replications=2)


def written(study: str, out: Path, *, replications: int) -> Evaluation:
    """Return the results of a study, after its pages are written into `out`."""
    (evaluation,) = reproduce([study], replications=replications, target="cpu")
    write_study(evaluation, out)
    return evaluation
