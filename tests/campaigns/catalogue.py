"""List of campaigns.  Their sources are parsed, not imported, so that the list takes no time."""

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from pathlib import Path

FOLDER = Path(__file__).parent


@dataclass(frozen=True)
class Campaign:
    """A program with a `main`."""

    name: str
    module: str
    """Module that defines `main`."""
    file: Path
    """File whose docstring describes the campaign."""

    @cached_property
    def summary(self) -> str:
        """First line of the docstring."""
        docstring = ast.get_docstring(ast.parse(self.file.read_text(encoding="utf-8"))) or ""
        return docstring.partition("\n")[0]

    def main(self) -> Callable[[], int | None]:
        """Import the campaign and return its `main`."""
        found: Callable[[], int | None] = import_module(self.module).main
        return found


def campaigns(folder: Path = FOLDER, package: str = __package__) -> dict[str, Campaign]:
    """Return all campaigns by name, in alphabetical order.  Raises ValueError if two have the same name."""
    found: dict[str, Campaign] = {}
    for one in sorted(_below(folder, package), key=lambda one: one.name):
        if one.name in found:
            raise ValueError(f"two campaigns are named {one.name}: {found[one.name].module} and {one.module}")
        found[one.name] = one
    return found


def _below(folder: Path, package: str) -> Iterator[Campaign]:
    for path in sorted(folder.iterdir()):
        name, module = path.stem, f"{package}.{path.stem}"
        if path.is_dir() and (path / "__init__.py").exists():
            if _has_main(path / "__main__.py"):
                yield Campaign(name, f"{module}.__main__", path / "__main__.py")
            elif _has_main(path / "__init__.py"):
                yield Campaign(name, module, path / "__init__.py")
            else:
                yield from _below(path, module)
        elif path.suffix == ".py" and not name.startswith(("test_", "__")) and _has_main(path):
            yield Campaign(name, module, path)


def _has_main(file: Path) -> bool:
    if not file.exists():
        return False
    return any(
        isinstance(node, ast.FunctionDef) and node.name == "main"
        for node in ast.parse(file.read_text(encoding="utf-8")).body
    )
