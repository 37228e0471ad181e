"""Estimated cost of models on a GPU, without one: warps in lockstep, machine instructions, memory traffic.

    python -m tests.device.warps MODEL ... [--rows 448] [--seconds 2] [--loss 0.001] [--where 2] [--memory 5]

Paths carry a bulk transfer over the lossy hop of the benchmarks; networks are the first of their random
scenarios, replicated. A launch uses one multiprocessor of an H200; the bounds are those of all 132. Figures
are per 32 packets, or per 32 events or frames of networks: the work of a warp in lockstep for a packet of
each lane.
"""

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray

from netcarlo.kernels import models
from netcarlo.kernels.base.rows import AnyRows
from netcarlo.kernels.runtime import compile as compilers
from netcarlo.kernels.runtime import launch
from tests.campaigns.benchmarks import lossy_hop
from tests.campaigns.benchmarks.gpu import scenarios
from tests.device import lines
from tests.device.cupy import fake_cupy, install
from tests.device.lockstep import KIB, LANES, LOCAL, OTHER, SHARED, SHARES, TRAFFIC, Counts, Region, Warps
from tests.twins.rows import rows_of

ARRAYS = (
    *("parameters", "constants", "first", "second", "losses", "scratch", "memory", "out", "trace"),
)
"""Arrays with which a kernel is launched."""

COMMON = "losses", "trace"
"""Arrays that all threads share."""

MULTIPROCESSORS, CLOCK_GHZ, ISSUED = 132, 1.83, 4
"""Figures of an H200: each multiprocessor issues four warp instructions a cycle.

Its L1 serves one line a cycle. Source: NVIDIA, "H200 Tensor Core GPU".
"""

L2_GB_S, HBM_GB_S = 5500, 4300
"""Bandwidth of the L2 as measured by others, and 0.9 of the specified memory bandwidth [GB/s]."""

REGISTERS, GRANULE, PARTS, BLOCK_WARPS, MOST_WARPS = 65536, 8, 4, 2, 64
"""Registers of a multiprocessor, and other limits.

In order: registers; allocation granule of a thread; parts, each with a share of registers and warps; warps in
a block of 64 threads; maximum number of warps.
"""


def regions_of(dimensions: Sequence[int]) -> Callable[[Sequence[int]], list[Region]]:
    """Return the regions of the arrays, from the arguments of a launch (`gpu_launch.arguments`)."""

    def regions(arguments: Sequence[int]) -> list[Region]:
        found, at = [], 0
        for name, count in zip(ARRAYS, dimensions, strict=True):
            items, size, address = arguments[at + 2 : at + 5]
            shape = arguments[at + 5 :][:count]
            own = 0 if name in COMMON or not items else items * size // (shape[0] * LANES)
            found.append(Region(name, address, items * size, own))
            at += 5 + 2 * count
        return found

    return regions


def scenario(name: str, rows: int, *, seconds: float, window: int, loss: float) -> AnyRows:
    """Return the scenario with which a model is run."""
    if scenarios.repeats(name):
        return scenarios.benchmark(name, rows_of(name, 1, seed=7), rows, seconds)
    return lossy_hop.rows(rows, window=window, loss=loss, duration_s=seconds)


def machine(text: str, folder: Path, *, limit_s: float = 120) -> tuple[int, int] | None:
    """Return registers per thread and instructions of the code for sm_90; None without ptxas, or on a
    timeout."""
    if not (ptxas := shutil.which("ptxas")):
        return None
    source, cubin = folder / "kernel.ptx", folder / "kernel.cubin"
    source.write_text(text)
    command = [ptxas, "-v", "-arch=sm_90", str(source), "-o", str(cubin)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=limit_s)
    except subprocess.TimeoutExpired:
        return None
    return max(int(n) for n in re.findall(r"Used (\d+) registers", done.stderr)), code_bytes(cubin) // 16


def code_bytes(cubin: Path) -> int:
    """Return the size of the sections .text of a 64-bit ELF file."""
    data = cubin.read_bytes()
    start = int.from_bytes(data[40:48], "little")
    size, count, names = (int.from_bytes(data[k : k + 2], "little") for k in (58, 60, 62))

    def number(section: int, at: int, length: int) -> int:
        return int.from_bytes(data[start + section * size + at :][:length], "little")

    texts = number(names, 24, 8)
    found = [k for k in range(count) if data[texts + number(k, 0, 4) :].startswith(b".text")]
    return sum(number(k, 32, 8) for k in found)


def resident_warps(registers: int, shared: int = 0) -> int:
    """Return the warps of blocks of 64 threads, with this much shared memory, that fit a multiprocessor."""
    warps = REGISTERS // (-(-registers // GRANULE) * GRANULE) // LANES
    blocks = warps // PARTS * PARTS // BLOCK_WARPS  # each part has its own registers
    if shared:
        blocks = min(blocks, SHARES[-1] // (shared + KIB))
    return min(blocks * BLOCK_WARPS, MOST_WARPS)


def figures(ran: "Ran") -> list[str]:
    """Return the cells of a table's row, by COLUMNS."""
    counts, packets = ran.counts, ran.packets
    issued = ran.warps.code.weights @ counts.runs
    total = dict(zip(TRAFFIC, counts.traffic.sum(axis=0).tolist(), strict=True))
    local = dict(zip(TRAFFIC, counts.traffic[LOCAL].tolist(), strict=True))
    warp = packets / LANES
    lines = total["load_lines"] + total["store_lines"]
    l2 = 32 * (total["l2_reads"] + total["l2_writes"])
    dram = 32 * (total["dram_reads"] + total["dram_writes"])
    rate = MULTIPROCESSORS * CLOCK_GHZ * packets
    return [
        f"{ran.efficiency:.3f}", f"{issued / warp:,.0f}", f"{rate * ISSUED / issued:.2f}",
        *(f"{total[key] / warp:.1f}" for key in ("loads", "stores")),
        *(f"{total[key] / warp:.0f}" for key in TRAFFIC[2:6]),
        *(f"{total[key] / packets:.1f}" for key in ("l2_reads", "l2_writes")),
        f"{dram / packets:.0f}", f"{(local['loads'] + local['stores']) / warp:.1f}",
        *(f"{bound / max(used, 1):.1f}" for bound, used in (
            (rate, lines), (L2_GB_S * packets, l2), (HBM_GB_S * packets, dram))),
    ]  # fmt: skip


COLUMNS = (
    *("model", "rows equal to the CPU's", "packets", "efficiency", "warp instructions", "issue bound [G/s]"),
    *("loads", "stores", "lines loaded", "stored", "sectors loaded", "stored"),
    *("L2 sectors read a packet", "written", "DRAM bytes a packet", "local accesses"),
    *("L1 bound [G/s]", "L2", "HBM", "registers", "warps", "machine instructions, estimated"),
)


_PLACES = {SHARED: "shared", OTHER: "elsewhere", LOCAL: "local"}
"""Regions that are not arrays."""


def by_array(counts: Counts, packets: int) -> str:
    """Return the traffic by array, in lines."""
    names = {**dict(enumerate(ARRAYS)), **_PLACES}
    found = []
    for i in np.flatnonzero(counts.traffic[:, :2].any(axis=1)):
        row = dict(zip(TRAFFIC, (counts.traffic[i] * LANES / packets).tolist(), strict=True))
        found.append(
            f"  {names[int(i)]}: loads {row['loads']:.2f} of {row['load_lines']:.1f} lines, "
            f"stores {row['stores']:.2f} of {row['store_lines']:.1f} lines; L2 sectors "
            f"{row['l2_reads'] / LANES:.2f} + {row['l2_writes'] / LANES:.2f} a packet, DRAM bytes "
            f"{row['dram_reads']:.1f} + {row['dram_writes']:.1f} a packet"
        )
    return "\n".join(found)


def hottest(warps: Warps, counts: Counts, packets: int, most: int) -> str:
    """Return the blocks with the most unused issue slots of lanes."""
    weights = warps.code.weights
    wasted = weights * (LANES * counts.runs - counts.lanes)
    found = [f"  {wasted.sum() / packets:,.0f} issue slots wasted a packet, most of them in"]
    for i in np.argsort(-wasted)[:most]:
        block, runs = warps.code.blocks[i], counts.runs[i]
        first = "; ".join([*block.instructions, *block.branch][:4])
        found.append(
            f"  {block.label}: {wasted[i] / wasted.sum():.1%}, {runs * LANES / packets:.2f} runs of "
            f"{weights[i]:g} instructions, {counts.lanes[i] / max(runs, 1):.1f} lanes: {first}"
        )
    return "\n".join(found)


def busiest(warps: Warps, counts: Counts, packets: int, most: int) -> str:
    """Return the loads and stores with the most lines, and the places that they access most."""
    found = [f"  {counts.access_lines.sum() * LANES / packets:,.1f} lines, most of them by"]
    for i in np.argsort(-counts.access_lines)[:most]:
        access, requests = warps.code.accesses[i], max(int(counts.requests[i]), 1)
        places = sorted((place for place in counts.places[i].tolist() if place[0]), reverse=True)
        words = ", ".join(
            f"{ARRAYS[region] if region < len(ARRAYS) else _PLACES[region]}[{byte / access.size:g}] "
            f"{count / requests:.0%}" for count, region, byte in places[:2]
        )  # fmt: skip
        found.append(
            f"  {access.label}: {counts.access_lines[i] * LANES / packets:.2f} lines, "
            f"{requests * LANES / packets:.2f} requests of {counts.access_lanes[i] / requests:.1f} lanes: "
            f"{access.instruction}; {words}"
        )
    return "\n".join(found)


class Ran(NamedTuple):
    """Result of a model in lockstep."""

    warps: Warps
    counts: Counts
    packets: int
    equal: NDArray[np.bool_]
    """By row: True if all outcomes equal the CPU's."""

    @property
    def efficiency(self) -> float:
        """Return the share of issue slots that are useful."""
        weights = self.warps.code.weights
        return float(weights @ self.counts.lanes / (weights @ self.counts.runs) / LANES)


def run(name: str, rows: AnyRows, folder: Path, *, with_lines: bool = False, **options: Any) -> Ran:
    """Run a model's PTX on these rows, which one multiprocessor has.

    It has source lines, which takes a compilation, or none; `options` are those of `Warps`.
    """
    model = models.model(name)
    expected = launch.run(model, rows, target="cpu", threads=1)
    text = lines.ptx(model) if with_lines else compilers.ptx(model)
    warps = Warps(text, folder, regions=regions_of(compilers.cuda_dimensions(model)), **options)
    with pytest.MonkeyPatch.context() as patch:
        install(patch, fake_cupy(lambda ptx: warps, multiprocessors=len(rows.parameters)))
        out = launch.run(model, rows, target="cuda")
    return Ran(warps, warps.counts, scenarios.packets(name, out), (out == expected).all(axis=1))


def examine(name: str, options: argparse.Namespace) -> bool:
    """Print the cost of a model; return True if all outcomes equal the CPU's."""
    rows = scenario(name, options.rows, seconds=options.seconds, window=options.window, loss=options.loss)
    with tempfile.TemporaryDirectory() as folder:
        warps, counts, packets, equal = ran = run(
            name, rows, Path(folder), resident=options.resident, l1_bytes=options.l1 * 1024,
            nested=not options.apart, with_lines=options.where > 0,
        )  # fmt: skip
        made = machine(compilers.ptx(models.model(name)), Path(folder)) if options.registers else None
    cells = [name, f"{equal.sum()} of {len(equal)}", f"{packets:,}", *figures(ran)]
    at_once = resident_warps(made[0], warps.code.shared) if made else 0
    cells += [str(made[0]), str(at_once), f"{made[1]:,}, "] if made else ["", "", ""]
    cells[-1] += f"{sum(warps.code.weights):,.0f}"
    print(f"| {' | '.join(cells)} |")
    for wanted, text in (
        (options.where, lambda: lines.tree(warps.code.parts, counts.by_lanes, options.where / 100)),
        (options.arrays, lambda: by_array(counts, packets)),
        (options.hot, lambda: hottest(warps, counts, packets, options.hot)),
        (options.memory, lambda: busiest(warps, counts, packets, options.memory)),
    ):
        if wanted:
            print(text())
    sys.stdout.flush()
    return bool(equal.all())


def main() -> int:
    """Print one row of a table per model; exit with 1 if any outcome differs from the CPU's."""
    keep = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=keep)
    parser.add_argument("models", nargs="+", choices=models.MODELS, metavar="MODEL")
    parser.add_argument("--rows", type=int, default=14 * LANES)
    parser.add_argument("--seconds", type=float, default=2.0, help="of a transfer over a path")
    parser.add_argument("--window", type=int, default=64, help="packets, of a path")
    parser.add_argument("--loss", type=float, default=0.001, help="on a path")
    parser.add_argument("--resident", type=int, default=14, help="warps at once on a multiprocessor")
    parser.add_argument("--l1", type=int, default=200, help="KiB")
    parser.add_argument("--apart", action="store_true", help="lanes of different back edges part, see flow")
    parser.add_argument("--arrays", action="store_true", help="traffic by array")
    parser.add_argument("--where", type=float, default=0, metavar="PERCENT",
                        help="functions with as much of the warp instructions, and with how many lanes")
    parser.add_argument("--hot", type=int, default=0, help="so many blocks with the most wasted issue slots")
    parser.add_argument("--memory", type=int, default=0, help="so many accesses with the most lines")
    parser.add_argument("--registers", action="store_true", help="ask ptxas (slow for ad hoc networks)")
    options = parser.parse_args()
    print(f"| {' | '.join(COLUMNS)} |\n{'|---' * len(COLUMNS)}|")
    equal = [examine(name, options) for name in options.models]
    return 0 if all(equal) else 1


if __name__ == "__main__":
    sys.exit(main())
