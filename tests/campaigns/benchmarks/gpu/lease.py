"""Run as many models as a limited time allows, each in its own process, and write the table of results."""

import csv
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from netcarlo.kernels.runtime import device, modules
from tests.campaigns.benchmarks.gpu.checkout import ROOT
from tests.campaigns.benchmarks.gpu.one import FIRST
from tests.campaigns.benchmarks.gpu.scenarios import Size, sizes_of

LEAST_S = 5.0
"""Remaining time below which no process is started [s]."""

COLUMNS = (
    *("model", "rows (rows x s)", "random scenarios equal", "benchmark rows equal"),
    *("ready [s]", "kernel [s]", "whole [s]", "M packets/s of kernel time", "of whole time", "predicted"),
)
DIFFERING = "model", "comparison", "row", "column", "cpu", "device"

Record = dict[str, Any]


class Lease:
    """Measurement with a time limit."""

    def __init__(self, folder: Path, out: Path, budget_s: float, limit_s: float) -> None:
        self.folder, self.out, self.limit_s = folder, out, limit_s
        self.end = time.monotonic() + budget_s
        self.found: dict[str, list[Record]] = {}
        self.failed: dict[str, str] = {}
        self.left_out: list[str] = []

    def measure(self, names: list[str], sizes: list[Size]) -> bool:
        """Compare and time models. Return whether all outcomes equal those of the CPU."""
        if reason := modules.obstacle():
            sys.exit(reason)
        self.out.mkdir(parents=True, exist_ok=True)
        with (self.out / "differing.csv").open("w", newline="") as file:
            csv.writer(file).writerow(DIFFERING)
        machine = {**device.devices()[0]._asdict(), **modules.versions()}
        print(f"{machine}\n\n{_line(COLUMNS)}\n{'|---' * len(COLUMNS)}|", flush=True)
        for check, turn in ((True, slice(1)), (False, slice(1, None))):
            for name in sorted(names, key=lambda name: name != FIRST):
                if chosen := sizes_of(name, sizes)[turn]:
                    for line in self.run(name, chosen, check=check):
                        print(line, flush=True)
                    done = {"models": self.found, "failed": self.failed, "left_out": self.left_out}
                    (self.out / "measured.json").write_text(
                        json.dumps({"machine": machine, **done}, indent=1)
                    )
        differ = self.differ()
        print(f"\nfailed: {', '.join(self.failed) or 'none'}; left out: {', '.join(self.left_out) or 'none'}")
        print(
            "SOME ROWS DIFFER, see differing.csv" if differ else "all rows that were compared equal the CPU's"
        )
        return not differ and not self.failed

    def run(self, name: str, sizes: list[Size], *, check: bool) -> Iterator[str]:
        """Return the lines that a process printed for a model and some sizes before it ended."""
        texts = ",".join(size.text for size in sizes)
        left_s = self.end - time.monotonic()
        if left_s < LEAST_S:
            self.left_out.append(f"{name} {texts}")
            return
        arguments = ["one", str(self.folder), "--models", name, "--sizes", texts, "--out", str(self.out)]
        records, failure = _process(arguments + ["--check"] * check, min(self.limit_s, left_s))
        self.found.setdefault(name, []).extend(records)
        yield from self.lines(name, records)
        if failure:
            self.failed[f"{name} {texts}"] = failure
            yield _line((f"{name} {texts}: {failure}",))

    def lines(self, name: str, records: list[Record]) -> Iterator[str]:
        """Return the lines of the table for the records of a process."""
        file = self.folder / "prediction.json"
        predicted = json.loads(file.read_text()).get(name, {}) if file.exists() else {}
        ready = random = ""
        for record in records:
            if "ready_s" in record:
                ready = f"{record['ready_s']:.2f}"
            elif "assembled_s" in record:
                equal = f"{record['random_equal']} of {record['random_rows']} rows equal"
                yield _line((f"{name}: assembled by the driver in {record['assembled_s']:.2f} s, {equal}",))
            elif "random_rows" in record:
                random = f"{record['random_equal']} of {record['random_rows']}"
            else:
                seconds = record["kernel_s"], record["whole_s"]
                yield _line((
                    *(name, f"{record['rows']:,} ({record['size']})", random),
                    *(f"{record['equal']} of {record['checked']}", ready),
                    *(f"{value:.3f}" for value in seconds),
                    *(f"{record['packets'] / value / 1e6:,.1f}" for value in seconds),
                    str(predicted.get(record["size"], "")),
                ))  # fmt: skip
                ready = random = ""
        if ready or random:
            yield _line((f"{name}: {random or 'no'} random scenarios equal, ready in {ready} s",))

    def differ(self) -> bool:
        """Return whether any row differed from that of the CPU."""
        records = [record for records in self.found.values() for record in records]
        pairs = ("random_equal", "random_rows"), ("equal", "checked")
        return any(record.get(part) != record.get(whole) for record in records for part, whole in pairs)


def _process(arguments: list[str], limit_s: float) -> tuple[list[Record], str]:
    """Return the records of a process, and the reason if it failed."""
    command = [sys.executable, "-m", "tests.campaigns", "--no-record", "gpu", *arguments]
    with tempfile.TemporaryDirectory() as folder:
        said, errors = Path(folder) / "said", Path(folder) / "errors"
        environment = os.environ | {"NETCARLO_CACHE": f"{folder}/cache"}
        with said.open("wb") as out, errors.open("wb") as err:
            process = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=out, stderr=err)
            try:
                code = process.wait(limit_s)
            except subprocess.TimeoutExpired:
                code = None
            finally:
                process.kill()
                process.wait()
        whole = [
            line for line in said.read_text().splitlines() if line.startswith("{") and line.endswith("}")
        ]
        records = [json.loads(line) for line in whole]
        last = (errors.read_text(errors="replace").splitlines() or ["nothing said"])[-1]
    if code is None:
        return records, f"stopped after {limit_s:.0f} s"
    return records, f"exit {code}: {last}" if code else ""


def _line(cells: tuple[str, ...]) -> str:
    return f"| {' | '.join(cells)} |"
