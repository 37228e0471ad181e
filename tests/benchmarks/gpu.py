"""Every model on a CUDA device: are the outcomes those of the CPU, bit for bit, and how fast is it?

    python -m tests.benchmarks.gpu prepare FOLDER    where Numba, numba-cuda and ptxas are, no device needed
    python -m tests.benchmarks.gpu measure FOLDER    where CuPy and a device are, from a checkout, in ten minutes

`prepare` leaves PTX, machine code, random scenarios and the CPU's outcomes in FOLDER.  `measure` needs FOLDER,
this checkout, CuPy and NumPy, nothing else (netcarlo need not be installed).  Each model has a process of its
own, and a time limit: one that crashes or hangs is a line of the table.  First come all models with their random
scenarios and the first of the sizes, then the other sizes, as far as the time goes.  `measure` prints a table and
writes it to measured.json, and the rows that differ to differing.csv.  It exits with 1 if an outcome differs or
a process failed.

FOLDER/prediction.json, if there is one, becomes a column: {"tcp_newreno": {"1e5x1": M packets/s}}.
"""

import argparse
import csv
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

ROOT = Path(__file__).parents[2]
CHECKED = 300  # random scenarios of each model, and replications of the benchmark, that must be equal
HOP: dict[str, Any] = {"window": 64, "loss": 0.001}
FIRST = "tcp_newreno"
LEAST_S = 5.0  # a process is not started with less time
WRITTEN = 20  # rows that differ of each comparison, in differing.csv
COLUMNS = (
    "model", "rows x s", "random scenarios equal", "benchmark rows equal", "ready [s]", "kernel [s]", "whole [s]",
    "M packets/s of kernel time", "of whole time", "predicted",
)  # fmt: skip
DIFFERING = "model", "comparison", "row", "column", "cpu", "device"


class Size(NamedTuple):
    """Replications of the benchmark; networks, whose packets cost more, have a tenth of them."""

    text: str
    rows: int
    seconds: float  # of a path; networks have their own

    @classmethod
    def read(cls, text: str) -> "Size":
        """Rows and seconds: 1e5x10."""
        rows, seconds = text.split("x")
        return cls(text, int(float(rows)), float(seconds))


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


def prepare(folder: Path, names: list[str], seconds: list[float], architectures: list[str]) -> None:
    """Write PTX, machine code, random scenarios and the CPU's outcomes of everything that `measure` checks."""
    from netcarlo.kernels import models
    from netcarlo.kernels.runtime import launch
    from tests.twins import rows

    for name in names:
        model = models.model(name)
        carry(folder / f"{name}.zip", model, architectures)
        scenarios = rows.rows_of(name, CHECKED, seed=7)
        stored = {"outcomes": launch.run(model, scenarios, target="cpu"), **scenarios._asdict()}
        for duration in seconds:
            many = benchmark(name, scenarios, CHECKED, duration)
            stored[outcomes_of(name, duration)] = launch.run(model, many, target="cpu")
        np.savez_compressed(folder / f"{name}.npz", **stored)
        size = sum((folder / f"{name}.{kind}").stat().st_size for kind in ("zip", "npz"))
        print(f"{name}: {len(stored['outcomes'])} random scenarios, {size / 1e6:.2f} MB", flush=True)


def carry(archive: Path, model: Any, architectures: list[str]) -> None:
    """Pack the files that the model's kernel is loaded from, as they are in a cache folder."""
    from netcarlo.kernels.runtime import cache, modules
    from netcarlo.kernels.runtime import compile as compilers
    from tests.conftest import find

    ptx = compilers.ptx(model)
    with tempfile.TemporaryDirectory() as draft:
        folder = Path(draft) / "cache"
        cache.keep(folder / cache.path(model, ".ptx").name, ptx.encode())
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


def benchmark(name: str, scenarios: Any, count: int, seconds: float) -> Any:
    """Replications to time: of a lossy hop, or of the first of some networks."""
    from netcarlo.kernels.base.layout import P
    from tests.benchmarks import lossy_hop

    if not network(name):
        return lossy_hop.rows(count, **HOP, duration_s=seconds)
    first = {
        field: np.repeat(getattr(scenarios, field)[:1], count, axis=0) for field in scenarios._fields[:4]
    }
    first["parameters"][:, P.REPLICATION] = np.arange(count)
    return scenarios._replace(**first)


def rows_of(name: str, size: Size) -> int:
    """The replications of a size for a model."""
    return size.rows // 10 if network(name) else size.rows


def sizes_of(name: str, sizes: list[Size]) -> list[Size]:
    """Those that differ for a model."""
    return list({rows_of(name, size): size for size in reversed(sizes)}.values())[::-1] if network(name) else sizes


def outcomes_of(name: str, seconds: float) -> str:
    """Where the CPU's outcomes of the benchmark are stored."""
    return "network" if network(name) else f"hop_{seconds:g}"


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


class Timed:
    """A kernel with an event of the device before and after each launch."""

    def __init__(self, kernel: Any) -> None:
        self._kernel = kernel
        self._launches: list[tuple[Any, Any]] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._kernel, name)

    def __call__(self, *arguments: Any, stream: Any = None, **named: Any) -> None:
        import cupy

        begin, end = cupy.cuda.Event(), cupy.cuda.Event()
        begin.record(stream)
        self._kernel(*arguments, **named, **({} if stream is None else {"stream": stream}))
        end.record(stream)
        self._launches.append((begin, end))

    def seconds(self) -> float:
        """How long any launch was under way since the last call."""
        import cupy

        launches, self._launches = self._launches, []
        for _, end in launches:
            end.synchronize()
        times = sorted(
            tuple(cupy.cuda.get_elapsed_time(launches[0][0], event) for event in pair) for pair in launches
        )
        total = until = 0.0
        for begin_ms, end_ms in times:  # those of several streams may overlap
            total += max(end_ms - max(begin_ms, until), 0.0)
            until = max(until, end_ms)
        return total / 1e3


def one(folder: Path, name: str, sizes: list[Size], out: Path, *, check: bool) -> None:
    """Check and time one model; prints a record, in JSON, after each step."""
    from netcarlo.kernels import models
    from netcarlo.kernels.runtime import launch, modules

    def say(**record: Any) -> None:
        print(json.dumps(record), flush=True)

    def equal(comparison: str, found: Any, expected: Any) -> int:
        rows = np.flatnonzero((found != expected).any(axis=1))
        with (out / "differing.csv").open("a", newline="") as file:
            for row in rows[:WRITTEN]:
                for column in np.flatnonzero(found[row] != expected[row]):
                    values = expected[row, column], found[row, column]
                    csv.writer(file).writerow((name, comparison, row, column, *values))
        return len(found) - len(rows)

    model, kind = models.model(name), kind_of(name)
    stored = np.load(folder / f"{name}.npz")
    scenarios = kind(**{field: stored[field] for field in kind._fields})
    with zipfile.ZipFile(folder / f"{name}.zip") as packed:
        packed.extractall(os.environ["NETCARLO_CACHE"])
    start = time.perf_counter()
    timed = Timed(modules.kernel(model))
    modules.kernel = lambda model: timed
    say(ready_s=time.perf_counter() - start)
    if check:
        found = launch.run(model, scenarios, target="cuda")
        say(random_equal=equal("random", found, stored["outcomes"]), random_rows=len(found))
    for size in sizes:
        count = rows_of(name, size)
        rows = benchmark(name, scenarios, count, size.seconds)
        timed.seconds()
        start = time.perf_counter()
        found = launch.run(model, rows, target="cuda")
        whole_s = time.perf_counter() - start
        checked = min(CHECKED, count)
        expected = stored[outcomes_of(name, size.seconds)][:checked]
        say(
            size=size.text, rows=count, equal=equal(size.text, found[:checked], expected), checked=checked,
            packets=packets(name, found), kernel_s=timed.seconds(), whole_s=whole_s,
        )  # fmt: skip


class Lease:
    """A measurement that has a time to end at."""

    def __init__(self, folder: Path, out: Path, budget_s: float, limit_s: float) -> None:
        self.folder, self.out, self.limit_s = folder, out, limit_s
        self.end = time.monotonic() + budget_s
        self.found: dict[str, list[dict[str, Any]]] = {}
        self.failed: dict[str, str] = {}
        self.left_out: list[str] = []

    def run(self, name: str, sizes: list[Size], *, check: bool) -> list[dict[str, Any]]:
        """The records of a process for a model and some sizes, as far as it came."""
        what = f"{name} {','.join(size.text for size in sizes)}"
        left_s = self.end - time.monotonic()
        if left_s < LEAST_S:
            self.left_out.append(what)
            return []
        command = [sys.executable, "-m", "tests.benchmarks.gpu", "one", str(self.folder), "--models", name]
        command += ["--sizes", ",".join(size.text for size in sizes), "--out", str(self.out)]
        with tempfile.TemporaryDirectory() as cache, tempfile.TemporaryFile() as said, tempfile.TemporaryFile() as errors:
            environment = os.environ | {"NETCARLO_CACHE": cache}
            process = subprocess.Popen(
                command + ["--check"] * check, cwd=ROOT, env=environment, stdout=said, stderr=errors
            )
            limit_s = min(self.limit_s, left_s)
            try:
                code = process.wait(limit_s)
            except subprocess.TimeoutExpired:
                code = None
            finally:
                process.kill()
                process.wait()
            for file in (said, errors):
                file.seek(0)
            lines, error = said.read().decode().splitlines(), errors.read().decode(errors="replace").splitlines()
        records = [json.loads(line) for line in lines if line.startswith("{") and line.endswith("}")]
        if code is None:
            self.failed[what] = f"stopped after {limit_s:.0f} s"
        elif code:
            self.failed[what] = f"exit {code}: {error[-1] if error else 'nothing said'}"
        self.found.setdefault(name, []).extend(records)
        return records

    def differ(self) -> bool:
        """Whether any row was not the CPU's."""
        records = [record for records in self.found.values() for record in records]
        return any(
            record.get(part, 0) != record.get(whole, 0)
            for record in records
            for part, whole in (("random_equal", "random_rows"), ("equal", "checked"))
        )


def lines(name: str, records: list[dict[str, Any]], prediction: dict[str, Any]) -> Iterator[str]:
    """The lines of the table for the records of one process."""
    ready = next((f"{record['ready_s']:.2f}" for record in records if "ready_s" in record), "")
    random = next(
        (f"{record['random_equal']} of {record['random_rows']}" for record in records if "random_rows" in record), ""
    )
    sized = [record for record in records if "size" in record]
    for record in sized:
        rates = [f"{record['packets'] / record[key] / 1e6:,.1f}" for key in ("kernel_s", "whole_s")]
        predicted = prediction.get(name, {}).get(record["size"], "")
        cells = [
            name, f"{record['rows']:,} ({record['size']})", random, f"{record['equal']} of {record['checked']}", ready,
            f"{record['kernel_s']:.3f}", f"{record['whole_s']:.3f}", *rates, str(predicted),
        ]  # fmt: skip
        yield "| " + " | ".join(cells) + " |"
        ready = random = ""
    if not sized and records:
        yield "| " + " | ".join([name, "", random, "", ready, *[""] * (len(COLUMNS) - 5)]) + " |"


def measure(lease: Lease, names: list[str], sizes: list[Size]) -> bool:
    """Check and time models on the device; returns whether all that was run is the CPU's."""
    from netcarlo.kernels.runtime import device, modules

    if reason := modules.obstacle():
        sys.exit(reason)
    lease.out.mkdir(parents=True, exist_ok=True)
    with (lease.out / "differing.csv").open("w", newline="") as file:
        csv.writer(file).writerow(DIFFERING)
    file_of_prediction = lease.folder / "prediction.json"
    prediction = json.loads(file_of_prediction.read_text()) if file_of_prediction.exists() else {}
    machine = {"device": device.devices()[0]._asdict(), **modules.versions()}
    print(f"{machine}\n\n| " + " | ".join(COLUMNS) + " |\n" + "|---" * len(COLUMNS) + "|", flush=True)
    names = sorted(names, key=lambda name: name != FIRST)
    for check, part in ((True, slice(1)), (False, slice(1, None))):
        for name in names:
            before = len(lease.failed)
            if not (turn := sizes_of(name, sizes)[part]):
                continue
            for line in lines(name, lease.run(name, turn, check=check), prediction):
                print(line, flush=True)
            for what, why in list(lease.failed.items())[before:]:
                print(f"| {what}: {why} |", flush=True)
            written = {"machine": machine, "models": lease.found, "failed": lease.failed, "left_out": lease.left_out}
            (lease.out / "measured.json").write_text(json.dumps(written, indent=1))
    print(f"\nfailed: {', '.join(lease.failed) or 'none'}; left out: {', '.join(lease.left_out) or 'none'}")
    print("SOME ROWS DIFFER: differing.csv" if lease.differ() else "every row that was compared equals the CPU's")
    return not lease.differ() and not lease.failed


def listed(kind: Callable[[str], Any]) -> Callable[[str], list[Any]]:
    """Reads values between commas."""
    return lambda text: [kind(word) for word in text.split(",") if word]


def main() -> int:
    """Run a command."""
    use_checkout()
    from netcarlo.kernels import models

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=("prepare", "measure", "one"), help="one: what measure runs of a model")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--models", type=listed(str), default=list(models.NAMES), help="between commas")
    parser.add_argument("--seconds", type=listed(float), default=[1.0, 10.0], help="prepare: lengths of the benchmark")
    parser.add_argument("--architectures", type=listed(str), default=["sm_90"], help="prepare: of the machine code")
    parser.add_argument(
        "--sizes", type=listed(Size.read), default=listed(Size.read)("1e5x1,1e5x10,1e6x10"),
        help="measure: rows x seconds, the first for all models before the others; networks have a tenth",
    )  # fmt: skip
    parser.add_argument("--budget", type=float, default=540.0, help="measure: seconds in all")
    parser.add_argument("--limit", type=float, default=60.0, help="measure: seconds of a process")
    parser.add_argument("--out", type=Path, help="measure: where to write, FOLDER unless given")
    parser.add_argument("--check", action="store_true", help="one: random scenarios, too")
    given = parser.parse_args()
    out = given.out or given.folder
    if given.command == "prepare":
        given.folder.mkdir(parents=True, exist_ok=True)
        prepare(given.folder, given.models, given.seconds, given.architectures)
        return 0
    if given.command == "one":
        [name] = given.models
        one(given.folder, name, given.sizes, out, check=given.check)
        return 0
    lease = Lease(given.folder.resolve(), out.resolve(), given.budget, given.limit)
    return 0 if measure(lease, given.models, given.sizes) else 1


if __name__ == "__main__":
    sys.exit(main())
