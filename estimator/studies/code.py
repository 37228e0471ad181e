"""Code of a study: metrics and claims that are computations, in `claims.py`.

The code of the studies that netcarlo includes is a package. That of a user's study runs only if it is
trusted: `--trust claims.py`, or `netcarlo.trust`.
"""

import traceback
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from types import ModuleType
from typing import Any

from netcarlo.errors import InputError
from netcarlo.studies.cells import Cells, Metric
from netcarlo.studies.claims import Claim
from netcarlo.studies.comparison import Summaries
from netcarlo.studies.maps import Map
from netcarlo.studies.study import Study
from netcarlo.transport import congestion

FILE = "claims.py"
"""Name of the file with the code of a study."""


def _none(cells: Cells) -> Any:
    return ()


@dataclass(frozen=True)
class Code:
    """Metrics and claims of a study that are computed by code; empty without code."""

    metrics: Mapping[str, Metric] = field(default_factory=dict)
    """`METRICS` of the file: functions that return the values of a metric in a cell, by name."""
    summaries: Callable[[Cells], Summaries] = lambda cells: {}
    """Function `summaries`: metrics that depend on several cells, by name."""
    claims: Callable[[Cells], Iterable[Claim]] = _none
    """Function `claims`: claims with their verdicts."""
    maps: Callable[[Cells], Iterable[Map]] = _none
    """Function `maps`: maps over two unknown parameters."""


def load(study: Study) -> Code:
    """Return the code of a study. Raises InputError if it is not trusted, or fails."""
    if study.package:
        own = f"{study.package}.claims"
        try:
            return _code(import_module(own))
        except ModuleNotFoundError as error:
            if error.name not in (study.package, own):
                raise
            return Code()  # a study of data only
    path = study.folder / FILE
    if not path.exists():
        return Code()
    content = congestion.read(path)
    congestion.refuse_unless_trusted(path, content, "is not trusted yet")
    module = ModuleType("claims")
    module.__file__ = str(path)

    def run() -> Code:
        exec(compile(content, str(path), "exec"), module.__dict__)  # trusted, see above
        return _code(module)

    code = guarded(run, str(path))
    return Code(
        {name: _safe(function, path) for name, function in code.metrics.items()},
        *(_safe(function, path) for function in (code.summaries, code.claims, code.maps)),
    )


def _code(module: ModuleType) -> Code:
    empty = Code()
    return Code(
        getattr(module, "METRICS", empty.metrics),
        *(getattr(module, name, getattr(empty, name)) for name in ("summaries", "claims", "maps")),
    )


def _safe(function: Callable[[Any], Any], path: Any) -> Callable[[Any], Any]:
    """Return a user's function whose errors are InputErrors; results that are iterators become lists."""

    def call(given: Any) -> Any:
        def run() -> Any:
            found = function(given)
            return list(found) if hasattr(found, "__next__") else found

        return guarded(run, str(path))

    return call


def guarded(run: Callable[[], Any], path: str) -> Any:
    """Return the result of a user's code. Raises InputError with the line of a failure."""
    try:
        return run()
    except (InputError, MemoryError):
        raise
    except Exception as error:
        lines = [
            frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == path
        ]
        line = error.lineno if isinstance(error, SyntaxError) else lines[-1] if lines else None
        at = path if line is None else f"{path}:{line}"
        raise InputError(f"{at}: failed with {type(error).__name__}: {error}; correct the code") from None
