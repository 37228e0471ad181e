"""A user's own congestion control file, as far as a scenario needs to know it without running it.

The file may name constants and their defaults in one literal, `CONSTANTS = {"increase": 1.0}` (the
kernel gets their values in that order), and its loss recovery, `RECOVERY = "sack"`.
"""

import ast
from pathlib import Path
from typing import Any, NamedTuple

from netcarlo import files
from netcarlo.errors import InputError
from netcarlo.kernels.user import RECOVERY


class Control(NamedTuple):
    """What a congestion control file says about itself."""

    constants: dict[str, float]
    recovery: str


def read(path: Path) -> Control:
    """Read a congestion control file.  Raises InputError."""
    try:
        tree = ast.parse(files.read_text(path))
    except SyntaxError as error:
        raise InputError(f"{path}:{error.lineno}: is not Python ({error.msg}); correct that line") from None
    constants = _literal(tree, "CONSTANTS", {})
    try:
        values = {str(name): float(value) for name, value in constants.items()}
    except (ValueError, TypeError, AttributeError):
        example = 'CONSTANTS = {"increase": 1.0}'
        raise InputError(
            f"{path}: CONSTANTS is no dictionary of names and numbers; write {example}"
        ) from None
    return Control(values, str(_literal(tree, "RECOVERY", RECOVERY)))


def _literal(tree: ast.Module, name: str, default: Any) -> Any:
    for node in tree.body:
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            if any(isinstance(target, ast.Name) and target.id == name for target in targets):
                try:
                    return ast.literal_eval(node.value)
                except ValueError:
                    return None
    return default
