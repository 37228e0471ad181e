"""A user's own congestion control file, as far as a scenario needs to know it without running it.

The file may name constants and their defaults in one literal, `CONSTANTS = {"increase": 1.0}`; the
kernel gets their values in that order.
"""

import ast
from pathlib import Path

from netcarlo import files
from netcarlo.errors import InputError


def default_constants(path: Path) -> dict[str, float]:
    """The constants of a congestion control file and their defaults.  Raises InputError."""
    try:
        tree = ast.parse(files.read_text(path))
    except SyntaxError as error:
        raise InputError(f"{path}:{error.lineno}: is not Python ({error.msg}); correct that line") from None
    for node in tree.body:
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            if any(isinstance(target, ast.Name) and target.id == "CONSTANTS" for target in targets):
                try:
                    constants = ast.literal_eval(node.value).items()
                    return {str(name): float(value) for name, value in constants}
                except (ValueError, TypeError, AttributeError):
                    example = 'CONSTANTS = {"increase": 1.0}'
                    raise InputError(
                        f"{path}:{node.lineno}: CONSTANTS is no dictionary of names and numbers; write {example}"
                    ) from None
    return {}
