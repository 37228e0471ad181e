"""Every model on a CUDA device: are the outcomes those of the CPU, bit for bit, and how fast is it?

    python -m tests.benchmarks.gpu prepare FOLDER    where Numba and numba-cuda are, no device needed
    python -m tests.benchmarks.gpu measure FOLDER    where CuPy and a device are, from a checkout

`prepare` leaves PTX, scenarios and the CPU's outcomes in FOLDER; `measure` needs FOLDER, this checkout,
CuPy and NumPy, nothing else (netcarlo need not be installed), and prints the tables of
docs/performance.md.  It exits with 1 if any outcome differs.
"""

import importlib.util
import os
import sys
import time
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

ROOT = Path(__file__).parents[2]
CHECKED = 300  # random scenarios of each model, and replications of the benchmark, that must be equal
SIZES = 100_000, 1_000_000
HOP: dict[str, Any] = {"window": 64, "loss": 0.001, "duration_s": 10.0}


def use_checkout() -> None:
    """Make `netcarlo.kernels` the folder beside this one, without the rest of the package."""
    netcarlo = ModuleType("netcarlo")
    netcarlo.__path__ = []
    sys.modules["netcarlo"] = netcarlo
    folder = ROOT / "kernels"
    spec = importlib.util.spec_from_file_location(
        "netcarlo.kernels", folder / "__init__.py", submodule_search_locations=[str(folder)]
    )
    assert spec
    sys.modules["netcarlo.kernels"] = importlib.util.module_from_spec(spec)


def prepare(folder: Path) -> None:
    """Write PTX, random scenarios and the CPU's outcomes of everything that `measure` checks."""
    from netcarlo.kernels import models
    from netcarlo.kernels.runtime import compile as compilers
    from netcarlo.kernels.runtime import launch
    from tests.twins.rows import rows_of

    for name in models.NAMES:
        model = models.model(name)
        compilers.ptx(model)
        scenarios = rows_of(name, CHECKED, seed=7)
        outcomes = launch.run(model, scenarios, target="cpu")
        many = benchmark(name, scenarios, CHECKED)
        hop = launch.run(model, many, target="cpu")
        np.savez_compressed(folder / f"{name}.npz", hop=hop, outcomes=outcomes, **scenarios._asdict())
        print(
            f"{name}: {len(outcomes)} random scenarios, {len(hop)} replications of the benchmark", flush=True
        )


def benchmark(name: str, scenarios: Any, count: int) -> Any:
    """Replications to time: of a lossy hop, or of the first of some networks."""
    from netcarlo.kernels.base.layout import P
    from tests.benchmarks import lossy_hop

    if not network(name):
        return lossy_hop.rows(count, **HOP)
    first = {
        field: np.repeat(getattr(scenarios, field)[:1], count, axis=0) for field in scenarios._fields[:4]
    }
    first["parameters"][:, P.REPLICATION] = np.arange(count)
    return scenarios._replace(**first)


def network(name: str) -> bool:
    """Whether the model reads a network rather than a path."""
    from netcarlo.kernels import models

    return models.model(name).address.family != "path"


def kind_of(name: str) -> Any:
    """The class of a model's rows."""
    from netcarlo.kernels import models
    from netcarlo.kernels.adhoc.layout import ManetRows
    from netcarlo.kernels.base.layout import Rows
    from netcarlo.kernels.shared.layout import SharedRows
    from netcarlo.kernels.wireless.layout import WifiRows

    kinds = {"path": Rows, "wireless": WifiRows, "adhoc": ManetRows, "shared": SharedRows}
    return kinds[models.model(name).address.family]


def packets(name: str, out: Any) -> int:
    """Packets of a path; of a network, frames on the air or events."""
    from netcarlo.kernels import models
    from netcarlo.kernels.adhoc.layout import ManetOut
    from netcarlo.kernels.base.layout import Out
    from netcarlo.kernels.wireless.layout import WifiOut

    column = ManetOut.EXCHANGES if models.model(name).address.family == "adhoc" else WifiOut.EVENTS
    return int(out[:, column if network(name) else Out.SENT].sum())


def measure(folder: Path) -> bool:
    """Check and time every model on the device; returns whether every outcome is the CPU's."""
    import cupy

    from netcarlo.kernels import models
    from netcarlo.kernels.runtime import device, launch

    print(f"{device.devices()[0]}, CuPy {cupy.__version__}, driver {cupy.cuda.runtime.driverGetVersion()}\n")
    print("| model | random scenarios equal to the CPU | benchmark rows equal |", end="")
    print("".join(f" {n:,} replications (networks: a hundredth) [M packets/s] |" for n in SIZES))
    print("|---|" + "---|" * (2 + len(SIZES)))
    all_equal = True
    for name in models.NAMES:
        model = models.model(name)
        stored = np.load(folder / f"{name}.npz")
        kind = kind_of(name)
        scenarios = kind(**{field: stored[field] for field in kind._fields})
        equal = (launch.run(model, scenarios, target="cuda") == stored["outcomes"]).all(axis=1)
        cells = [f"{equal.sum()} of {len(equal)}"]
        all_equal &= bool(equal.all())
        for n in [size // 100 for size in SIZES] if network(name) else SIZES:
            rows = benchmark(name, scenarios, n)
            start = time.perf_counter()
            out = launch.run(model, rows, target="cuda")
            seconds = time.perf_counter() - start
            equal = (out[:CHECKED] == stored["hop"]).all(axis=1)
            all_equal &= bool(equal.all())
            if len(cells) == 1:
                cells.append(f"{equal.sum()} of {len(equal)}")
            cells.append(f"{packets(name, out) / seconds / 1e6:,.0f} ({seconds:.2f} s)")
        print(f"| {name} | " + " | ".join(cells) + " |", flush=True)
    return all_equal


def main() -> int:
    if len(sys.argv) != 3 or sys.argv[1] not in ("prepare", "measure"):
        sys.exit(__doc__)
    folder = Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    os.environ["NETCARLO_CACHE"] = str(folder)
    use_checkout()
    if sys.argv[1] == "prepare":
        prepare(folder)
        return 0
    return 0 if measure(folder) else 1


if __name__ == "__main__":
    sys.exit(main())
