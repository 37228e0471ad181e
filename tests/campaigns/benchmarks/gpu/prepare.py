"""Files for a machine with a device: kernels, scenarios and the outcomes of the CPU."""

import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from netcarlo.kernels import models
from netcarlo.kernels.runtime import cache, launch, modules
from netcarlo.kernels.runtime import compile as compilers
from tests.campaigns.benchmarks.gpu.scenarios import CHECKED, benchmark, outcomes_of
from tests.tools import find
from tests.twins.rows import rows_of

PREDICTION = Path(__file__).with_name("prediction.json")
"""Upper bounds for a device like an H200 [M packets/s], from the model of warps (`tests.device.warps`)."""


def prepare(folder: Path, names: list[str], seconds: list[float], architectures: list[str]) -> None:
    """Write all files that `measure` needs for some models, with machine code for some architectures."""
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copy(PREDICTION, folder)
    for name in names:
        model = models.model(name)
        _pack(folder / f"{name}.zip", model, architectures)
        scenarios = rows_of(name, CHECKED, seed=7)
        stored = {"outcomes": launch.run(model, scenarios, target="cpu"), **scenarios._asdict()}
        for duration in seconds:
            rows = benchmark(name, scenarios, CHECKED, duration)
            stored[outcomes_of(name, duration)] = launch.run(model, rows, target="cpu")
        np.savez_compressed(folder / f"{name}.npz", **stored)
        size = sum((folder / f"{name}.{kind}").stat().st_size for kind in ("zip", "npz"))
        print(f"{name}: {len(stored['outcomes'])} random scenarios, {size / 1e6:.2f} MB", flush=True)


def _pack(archive: Path, model: Any, architectures: list[str]) -> None:
    """Write the files from which the model's kernel is loaded, in the layout of a cache folder."""
    ptx = compilers.ptx(model)
    with tempfile.TemporaryDirectory() as draft:
        folder = Path(draft) / "cache"
        found = cache.path(model, ".ptx", next(iter(compilers.CUDA_COMPILERS)))  # read without compilers
        cache.keep(folder / found.name, ptx.encode())
        source, made = Path(draft) / "kernel.ptx", Path(draft) / "kernel.cubin"
        source.write_text(ptx)
        for architecture in architectures:
            ptxas = find("ptxas") or sys.exit("ptxas is missing: pip install nvidia-cuda-nvcc")
            subprocess.run([ptxas, f"-arch={architecture}", str(source), "-o", str(made)], check=True)
            number = architecture.removeprefix("sm_")
            file = modules.machine_code(model, (int(number[:-1]), int(number[-1])))
            cache.keep(folder / file.name, made.read_bytes())
        with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as packed:
            for file in folder.iterdir():
                packed.write(file, file.name)
