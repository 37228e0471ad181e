"""Stored verdicts on the PTX of models.

A verdict holds the hash of a PTX that passed all checks, and of the sources and compilers that made it.
While these sources and compilers are the present ones, nothing needs to be compiled to know that the present
PTX passes.  Docstrings and comments do not count.  `verdicts.json` is written by
`python -m tests.campaigns ptx`.
"""

import functools
import hashlib
import json
import platform
import re
from importlib import metadata
from pathlib import Path
from typing import Any

from netcarlo.kernels import models
from netcarlo.kernels.runtime import cache
from netcarlo.simulation import sources as trees
from tests.campaigns.ptx.cases import Case

FILE = Path(__file__).with_name("verdicts.json")

_ENVIRONMENTS = re.compile(r"^\.common \.global \.align 8 \.u64 _ZN\w*NumbaEnv\w*;\n", re.MULTILINE)

PACKAGES = {
    "numba_cuda": ("numba", "llvmlite", "numpy", "numba-cuda", "nvidia-nvvm", "nvidia-cuda-nvcc"),
    "numba_cuda_mlir": ("numba", "llvmlite", "numpy", "numba-cuda-mlir", "nvidia-nvvm", "nvidia-cuda-nvcc"),
}
"""Packages that make PTX and machine code of a model, by compiler."""


def stored() -> dict[str, dict[str, Any]]:
    """Return the verdicts by case."""
    found: dict[str, dict[str, Any]] = json.loads(FILE.read_text()) if FILE.exists() else {}
    return found


def store(new: dict[str, dict[str, Any]], *, only: frozenset[str] | set[str]) -> None:
    """Add verdicts to the file, and drop those of cases that are not in `only`."""
    kept = {name: verdict for name, verdict in (stored() | new).items() if name in only}
    lines = ",\n".join(f"  {json.dumps(name)}: {json.dumps(kept[name])}" for name in sorted(kept))
    new_file = FILE.with_suffix(".new")
    new_file.write_text(f"{{\n{lines}\n}}\n")
    new_file.replace(FILE)  # other processes read it


def ptx_hash(text: str) -> str:
    """Return the hash of a PTX without the declarations of Numba's environments.

    No instruction uses these, and their names and order differ from run to run.
    """
    code, declarations = _ENVIRONMENTS.sub("", text), len(_ENVIRONMENTS.findall(text))
    assert text.count("NumbaEnv") == declarations, "an instruction uses an environment"
    return hashlib.sha256(code.encode()).hexdigest()[:16]


def sources_hash(case: Case) -> str:
    """Return the hash of what the PTX of a case is made from: syntax trees, constants, and compilers."""
    versions = [f"{name} {metadata.version(name)}" for name in PACKAGES[case.compiler]]
    found = hashlib.sha256(f"{versions} Python {platform.python_version_tuple()[:2]}".encode())
    cache.describe(models.model(case.model), found.update, _tree)
    return found.hexdigest()[:16]


@functools.cache
def _tree(file: str | None) -> bytes:
    text = cache._source(file)
    return trees.digest(text).encode() if text else text
