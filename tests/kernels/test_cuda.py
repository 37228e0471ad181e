"""The CUDA kernels without a device: machine code for every architecture, and the simulator's bits."""

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from netcarlo.kernels import compile as compilers
from netcarlo.kernels import device, launch, models
from netcarlo.kernels.layout import Out
from netcarlo.kernels.manet.layout import ManetOut
from tests import toy
from tests.naive.rows import AnyRows, rows_of

ARCHITECTURES = "sm_75", "sm_80", "sm_90", "sm_100", "sm_120"

ROWS = 6
MOBILE_ROWS = 14


@pytest.fixture(scope="module", params=models.NAMES)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def ptx(name: str, tmp_path_factory: pytest.TempPathFactory) -> str:
    pytest.importorskip("numba_cuda", reason="needs numba_cuda: pip install '.[test]'")
    run = os.environ.get("PYTEST_XDIST_TESTRUNUID", "alone")
    cache = tmp_path_factory.getbasetemp() / ".." / f"ptx-{run}"  # workers share what one has compiled
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("NETCARLO_CACHE", str(cache if run != "alone" else tmp_path_factory.mktemp("cache")))
        return compilers.ptx(models.model(name))


@pytest.mark.needs("numba_cuda", "ptxas")
def test_machine_code_without_spills(
    name: str,
    ptx: str,
    tool: Callable[[str], str],
    tmp_path: Path,
    record_property: Callable[[str, object], None],
) -> None:
    source = tmp_path / "kernel.ptx"
    source.write_text(ptx)
    # Long code takes long to assemble; what fits one architecture's registers fits them all.
    long = name.endswith(models.MOBILE) or name.startswith((models.WIFI, models.MANET, models.SHARED))
    for architecture in ARCHITECTURES[2:3] if long else ARCHITECTURES:
        done = subprocess.run(
            [tool("ptxas"), "-v", f"-arch={architecture}", str(source), "-o", str(tmp_path / "kernel.cubin")],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        registers = int(re.findall(r"Used (\d+) registers", done.stderr)[0])
        frames = re.findall(
            r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads", done.stderr
        )
        stack, stores, loads = (sum(int(number) for number in column) for column in zip(*frames, strict=True))
        record_property(
            "machine code",
            f"{name} {architecture}: {registers} registers, stack {stack}, spills {stores} + {loads} bytes",
        )
        assert stores == 0 and loads == 0
        assert (tmp_path / "kernel.cubin").stat().st_size > 1000


@pytest.mark.needs("numba_cuda")
def test_no_product_is_fused_with_a_sum(ptx: str) -> None:
    """A fused multiply-add rounds once where the CPU rounds twice."""
    assert not re.findall(r"\b(fma|mad)\S*\.f(?:32|64)", ptx)
    assert not re.findall(r"\b(?:mul|add|sub)\.f64", ptx)  # without .rn, ptxas may fuse them


@pytest.mark.needs("numba_cuda")
def test_a_product_in_a_sum_would_be_noticed() -> None:
    from numba import cuda

    from netcarlo.kernels.cuda import CAPABILITY, settings

    def kernel(x, y):  # type: ignore[no-untyped-def]
        y[0] = x[0] * x[1] + x[2]

    signature = "void(float64[::1],float64[::1])"
    assert "fma.rn.f64" in cuda.compile_ptx(kernel, signature, cc=CAPABILITY)[0]
    with settings():
        text, _ = cuda.compile_ptx(kernel, signature, cc=CAPABILITY)
    assert "fma.rn.f64" not in text and "mul.rn.f64" in text and "add.rn.f64" in text


@pytest.mark.needs("numba_cuda")
def test_parameters_are_those_that_a_launch_passes(name: str, ptx: str) -> None:
    dimensions = models.model(name).dimensions + compilers._CUDA
    arrays = [np.zeros((2,) * n, kind) for kind, n in zip(compilers._TYPES, dimensions, strict=True)]
    passed = device.arguments([toy.Array(array) for array in arrays])
    head = ptx[ptx.index(".entry netcarlo(") : ptx.index("{")]
    assert re.findall(r"\.param (\S+) netcarlo_param_(\d+)", head) == [
        (".u64", str(i)) for i in range(len(passed))
    ]


SIMULATOR = """
import sys
import numpy as np
from numba import cuda
from netcarlo.kernels import cuda as compiler, device, launch, models
from netcarlo.kernels.layout import Trace
from tests.naive.rows import kind_of

def simulate(model, rows, *, progress):
    n = len(rows.parameters)
    words, floats = model.scratch(rows)
    out = np.full((n, model.outcomes(rows)), 7)
    kernel = cuda.jit(compiler.make_kernel(model))
    kernel[2, -(-n // 2)](
        *rows, np.full((n, words), 77), np.full((n, floats), 7.7), out, np.zeros((0, len(Trace)))
    )
    return out

device.run = simulate
name, file = sys.argv[1:]
rows = kind_of(name)(**np.load(file))
np.save(file, launch.run(models.model(name), rows, target="cuda"))
"""


def some_rows(name: str) -> AnyRows:
    return rows_of(name, MOBILE_ROWS if name.endswith(models.MOBILE) else ROWS, seed=5)


@pytest.mark.needs("numba_cuda")
def test_simulator_gives_the_bits_of_the_cpu(name: str, tmp_path: Path) -> None:
    model, rows = models.model(name), some_rows(name)
    expected = launch.run(model, rows, target="cpu")
    sent = ManetOut.SENT if name.startswith(models.MANET) else Out.SENT
    assert expected[:, sent].sum() > 100
    np.savez(tmp_path / "rows.npz", **rows._asdict())
    path = os.pathsep.join(filter(None, sys.path))
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", SIMULATOR, name, str(tmp_path / "rows.npz")],
        env={**os.environ, "NUMBA_ENABLE_CUDASIM": "1", "PYTHONPATH": path},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert (np.load(tmp_path / "rows.npz.npy") == expected).all()


@pytest.mark.needs("cuda device", "cupy")
def test_device_gives_the_bits_of_the_cpu(name: str) -> None:
    rows = some_rows(name)
    model = models.model(name)
    assert (launch.run(model, rows, target="cuda") == launch.run(model, rows, target="cpu")).all()
