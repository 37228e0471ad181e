"""Kernels without the rest of the package and its dependencies."""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).parents[4]


def use_checkout() -> None:
    """Make `netcarlo.kernels` the folder of this checkout, unless netcarlo is imported, as in tests."""
    if "netcarlo" in sys.modules:
        return
    netcarlo = ModuleType("netcarlo")
    netcarlo.__path__ = []
    sys.modules["netcarlo"] = netcarlo
    folder = ROOT / "kernels"
    spec = importlib.util.spec_from_file_location(
        "netcarlo.kernels", folder / "__init__.py", submodule_search_locations=[str(folder)]
    )
    assert spec
    sys.modules["netcarlo.kernels"] = importlib.util.module_from_spec(spec)
