"""Congestion controls by name, and a user's own file as far as a scenario needs to know it unrun.

The file may name constants and their defaults in one literal, `CONSTANTS = {"increase": 1.0}`; the
kernel gets their values in that order.
"""

import ast
from pathlib import Path

from netcarlo import files
from netcarlo.errors import InputError

BUILT_IN = ("bic", "cubic", "westwood")
"""The congestion controls that come with netcarlo besides the standard one."""

STANDARD = "standard"
"""The word for the congestion control that a protocol has unless another one is named."""

NAMES = (STANDARD, *BUILT_IN)
"""What `congestion_control` may say beside the name of a file."""


def default_constants(path: Path) -> dict[str, float]:
    """The constants of a congestion control file and their defaults; empty if it has none.

    Raises InputError.
    """
    try:
        tree = ast.parse(files.read_text(path))
    except SyntaxError as error:
        raise InputError(f"{path}:{error.lineno}: is not Python ({error.msg}); correct that line") from None
    for node in tree.body:
        targets = node.targets if isinstance(node, ast.Assign) else []
        if any(isinstance(target, ast.Name) and target.id == "CONSTANTS" for target in targets):
            assert isinstance(node, ast.Assign)
            return _numbers(node.value, path)
    return {}


def _numbers(node: ast.expr, path: Path) -> dict[str, float]:
    try:
        return {str(name): float(value) for name, value in ast.literal_eval(node).items()}
    except (ValueError, TypeError, AttributeError):
        raise InputError(
            f"{path}:{node.lineno}: CONSTANTS is no dictionary of names and numbers; "
            'write CONSTANTS = {"increase": 1.0}'
        ) from None
