"""The source code that decides results, identified by a hash of its syntax trees.

Comments, docstrings and layout are no part of a tree, so they can be rewritten without a change of the hash.
`ast.dump` and `ast.unparse` write one tree differently in different versions of Python; `digest` does not.
"""

import ast
import hashlib
from collections.abc import Iterable, Iterator, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import yaml

from netcarlo.kernels.runtime import cache

TRUNK = "errors", "kernels", "networks", "numerics", "scenario", "schema", "simulation", "transport"
"""Modules and packages that turn a scenario into outcomes: the layers up to `simulation`."""

SWEEPS = (
    "estimation.control_variates", "estimation.goals", "estimation.sample", "sweeps.analysis.decisions",
    "sweeps.analysis.regression", "sweeps.execution.chunk", "sweeps.space",
)  # fmt: skip
"""Modules and packages that turn the definition of a sweep into scenarios, and outcomes into its tables."""


def fingerprint(names: Iterable[str] = (*TRUNK, *SWEEPS)) -> str:
    """Return a hash of the syntax trees of modules and packages of netcarlo: 16 hexadecimal digits."""
    return hash_of(modules(names))


def hash_of(files: Mapping[str, Path]) -> str:
    """Return a hash of the syntax trees of modules, and of what data files say: 16 hexadecimal digits.

    Parsing takes seconds, so the hash is kept in the cache folder under a hash of the files' contents.
    """
    texts = {name: file.read_bytes() for name, file in sorted(files.items())}
    contents = hashlib.sha256()
    for name, text in texts.items():
        contents.update(b"%s\0%d\0%s" % (name.encode(), len(text), text))
    kept = cache.folder() / f"sources-{contents.hexdigest()[:32]}.txt"
    if (known := cache.read(kept)) is not None:
        return known.decode()
    trees = "\n".join(f"{name} {_hash(name, text)}" for name, text in texts.items())
    found = _sha256(trees)[:16]
    cache.keep(kept, found.encode())
    return found


def _hash(name: str, text: bytes) -> str:
    """Return a hash of a module, of YAML without its comments and layout, or of the bytes of another file."""
    if name.endswith(".py"):
        return digest(text)
    return _sha256(ascii(yaml.load(text, yaml.CSafeLoader) if name.endswith(".yaml") else text))


def modules(names: Iterable[str] = (*TRUNK, *SWEEPS)) -> dict[str, Path]:
    """Return the files of all modules of these modules and packages by their names, as `netcarlo/errors.py`,
    with their data files (YAML)."""
    found = {}
    for name in names:
        spec = find_spec(f"netcarlo.{name}")
        assert spec and spec.origin
        place, file = f"netcarlo/{name.replace('.', '/')}", Path(spec.origin)
        if spec.submodule_search_locations is None:
            found[f"{place}.py"] = file
        else:
            within = [*file.parent.rglob("*.py"), *file.parent.rglob("*.yaml")]
            found |= {f"{place}/{each.relative_to(file.parent).as_posix()}": each for each in within}
    return found


def digest(text: bytes | str) -> str:
    """Return a hash of the syntax tree of a module without its docstrings, equal in all Python versions."""
    return _sha256("".join(_written(ast.parse(text))))


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _written(node: Any) -> Iterator[str]:
    """Yield the parts of a text that stands for a syntax tree.

    It leaves out empty fields, which are new in some version of Python, and the notation of constants.
    """
    if isinstance(node, ast.Constant):
        yield ascii(node.value)
    elif isinstance(node, ast.AST):
        yield f"{type(node).__name__}("
        for name in node._fields:
            value = getattr(node, name, None)
            if isinstance(node, ast.JoinedStr):  # Python 3.12.1 appends an empty string to some
                value = [part for part in node.values if getattr(part, "value", None) != ""]
            if value is not None and value != [] and name not in ("ctx", "type_comment"):
                yield f"{name}="
                yield from _written(value)
        yield ")"
    elif isinstance(node, list):
        yield "["
        for item in node:
            if not _is_docstring(item):
                yield from _written(item)
                yield ","
        yield "]"
    else:
        yield ascii(node)


def _is_docstring(node: Any) -> bool:
    """Return True if a statement is a string, which documents a module, class, function or attribute."""
    value = node.value if isinstance(node, ast.Expr) else None
    return isinstance(value, ast.Constant) and isinstance(value.value, str)
