"""The packages against the folders, the files that travel with them, the imports."""

import importlib.metadata
import importlib.resources
import re
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parent.parent
TOP = {"estimator": "netcarlo", "kernels": "netcarlo.kernels", "configs": "netcarlo.configs",
       "reports": "netcarlo.reports"}  # fmt: skip


def folders() -> dict[str, str]:
    """The packages that the folders hold, by name."""
    found = {}
    for top, package in TOP.items():
        for init in (ROOT / top).rglob("__init__.py"):
            below = init.parent.relative_to(ROOT / top).parts
            found[".".join((package, *below))] = "/".join((top, *below))
    return found


def test_no_module_is_outside_a_package() -> None:
    packages = set(folders().values())
    strays = [
        path.relative_to(ROOT)
        for top in ("estimator", "kernels", "reports")
        for path in (ROOT / top).rglob("*.py")
        if path.parent.relative_to(ROOT).as_posix() not in packages
    ]
    assert strays == []


def test_data_files_are_installed() -> None:
    data = [
        (package, path.relative_to(ROOT / top))
        for top, package in TOP.items()
        for path in (ROOT / top).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts and path.suffix != ".pyc"
    ]
    assert len(data) > 50
    missing = [
        f"{package}: {path}" for package, path in data
        if not importlib.resources.files(package).joinpath(path.as_posix()).is_file()
    ]  # fmt: skip
    assert missing == []


def test_cpu_installation_needs_no_cuda_package() -> None:
    requirements = importlib.metadata.requires("netcarlo") or []
    always = [r for r in requirements if "extra ==" not in r]
    assert len(always) > 5
    assert [r for r in always if re.search("cuda|cupy|nvidia", r)] == []


def test_nothing_imports_a_cuda_package_by_itself() -> None:
    program = (
        "import sys\n"
        "class Refuse:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name.split('.')[0] in {'cupy', 'numba_cuda', 'numba_cuda_mlir', 'cuda'}:\n"
        "            raise ImportError(name)\n"
        "sys.meta_path.insert(0, Refuse())\n"
        "import netcarlo, netcarlo.cli.main\n"
        "from netcarlo.kernels import models\n"
        "from netcarlo.kernels.runtime import device, launch\n"
        "assert device.devices() == []\n"
        "assert 'numba.cuda' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


def test_every_requirement_is_pinned() -> None:
    pinned = {
        line.split("==")[0].lower().replace("_", "-")
        for line in (ROOT / "constraints.txt").read_text().splitlines()
        if not line.startswith("#")
    }
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"].values()
    required = [*project["dependencies"], *(r for extra in extras for r in extra)]
    names = {re.split(r"[<>=!~\[ ]", r)[0].lower() for r in required}
    assert names - pinned == set()
