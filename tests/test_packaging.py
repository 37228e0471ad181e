"""Distributions: packages and folders, installed files, and imports."""

import importlib.metadata
import importlib.resources
import json
import os
import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
TOP = {"estimator": "netcarlo", "kernels": "netcarlo.kernels", "configs": "netcarlo.configs",
       "reports": "netcarlo.reports"}  # fmt: skip


def folders() -> dict[str, str]:
    """Return the packages in the folders, by name."""
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


def test_extras_that_messages_name_exist() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    texts = [path for top in TOP for path in (ROOT / top).rglob("*.py")] + [*(ROOT / "docs").rglob("*.md")]
    named = {
        extra
        for path in texts
        for found in re.findall(r"pip install (?:-c \S+ )?'(?:\.|netcarlo)\[([\w,-]+)\]'", path.read_text())
        for extra in found.split(",")
    }
    assert named >= {"live", "cuda12", "cuda13", "cluster"}
    assert named <= set(project["optional-dependencies"])


def test_messages_do_not_ask_for_a_checkout() -> None:
    """Messages do not suggest `pip install '.[extra]'`, which does not work for users of a wheel."""
    wrong = [
        path.relative_to(ROOT)
        for top in TOP
        for path in (ROOT / top).rglob("*.py")
        if re.search(r"pip install '?\.", path.read_text())
    ]
    assert wrong == []


@pytest.fixture(scope="module")
def distributions(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Return the sdist, and the wheel that is built from it, of a copy of the tracked files."""
    folder = tmp_path_factory.mktemp("distributions")
    copy = folder / "netcarlo"
    listed = ["git", "-C", str(ROOT), "ls-files", "-z"]
    tracked = subprocess.run(listed, capture_output=True, check=True).stdout
    for name in tracked.decode().split("\0")[:-1]:
        if (ROOT / name).is_file():
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            (copy / name).write_bytes((ROOT / name).read_bytes())
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(folder / "dist"), str(copy)]
    subprocess.run(command, check=True, capture_output=True)
    (sdist,), (wheel,) = (folder / "dist").glob("*.tar.gz"), (folder / "dist").glob("*.whl")
    return sdist, wheel


@pytest.mark.full
def test_distributions_hold_every_module_and_file(distributions: tuple[Path, Path]) -> None:
    sdist, wheel = distributions
    with zipfile.ZipFile(wheel) as archive:
        found = {name for name in archive.namelist() if name.startswith("netcarlo/")}
    expected = {
        "/".join((*package.split("."), *path.relative_to(ROOT / top).parts))
        for top, package in TOP.items()
        for path in (ROOT / top).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert found == expected
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {"LICENSE", "README.md", "pyproject.toml", "setup.py", "kernels/models.py"} <= names


@pytest.mark.full
def test_a_wheel_runs_outside_the_repository(distributions: tuple[Path, Path], tmp_path: Path) -> None:
    _, wheel = distributions
    site, home = tmp_path / "site", tmp_path / "home"
    home.mkdir()
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(site)
    environment = {**os.environ, "PYTHONPATH": str(site)}

    def python(*arguments: str) -> str:
        command = [sys.executable, "-P", *arguments]
        done = subprocess.run(command, cwd=home, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def run(*arguments: str) -> str:
        return python("-m", "netcarlo", *arguments)

    assert Path(python("-c", "import netcarlo; print(netcarlo.__file__)").strip()).is_relative_to(site)
    assert run("--version").split()[-1] == importlib.metadata.version("netcarlo")
    run("new", "path")
    found = json.loads(run("estimate", "path.yaml", "--json", "--replications", "20"))
    assert found
    run("new", "sweep")
    run("sweep", "sweep.yaml", "--out", "store")
    run("report", "store", "--out", "sweep.html")
    assert "plotly" in (home / "sweep.html").read_text()
    assert run("schema", "scenario").strip().startswith("{")
