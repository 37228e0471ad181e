"""Runs of ns-3: programs that are compiled when needed."""

import resource
import shutil
import subprocess
from pathlib import Path

PACKAGES = "libns3-dev and libgsl-dev"
_LIBRARIES = (
    *("wifi", "applications", "internet", "traffic-control"),
    *("mobility", "propagation", "network", "point-to-point", "core"),
)


def available() -> bool:
    """Return whether ns-3 is installed (`apt-get install libns3-dev libgsl-dev g++`)."""
    return shutil.which("g++") is not None and Path("/usr/include/ns3/wifi-module.h").exists()


def compiled(source: Path, folder: Path) -> Path:
    """Compile a source with optimisation and return the path of the program."""
    program = folder / source.stem
    libraries = [f"-lns3-{name}" for name in _LIBRARIES]
    subprocess.run(["g++", "-O2", "-std=c++17", str(source), "-o", str(program), *libraries], check=True)
    return program


def run_chain(program: Path, **options: object) -> tuple[float, float]:
    """Return the throughput by ns-3 [Mbit/s], and its processor time including start-up [s]."""
    found, taken_s = run_cell(program, **options)
    return found[0], taken_s


def run_cell(program: Path, **options: object) -> tuple[list[float], float]:
    """Return the goodputs by ns-3 [Mbit/s], and its processor time including start-up [s]."""
    before = _children_s()
    arguments = [f"--{name}={value}" for name, value in options.items()]
    done = subprocess.run([str(program), *arguments], capture_output=True, text=True, check=True)
    return [float(word) for word in done.stdout.split()], _children_s() - before


def _children_s() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime
