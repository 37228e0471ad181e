"""Steps that each mutated file passes: load, check, rows, manifest, identity, reading the files."""

import csv
import io
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from netcarlo.estimation.reference import load_mapping, read_rows
from netcarlo.planning import load_plan
from netcarlo.scenario import Scenario, load_scenario
from netcarlo.schema.document import read_yaml, yaml_text
from netcarlo.simulation.ensemble import build, build_rows
from netcarlo.simulation.provenance import resolved
from netcarlo.studies.description import Description
from netcarlo.sweeps.space.file import load_sweep
from netcarlo.sweeps.space.identity import key, keys
from netcarlo.sweeps.space.space import Sweep
from tests.campaigns.fuzz.seeds import CONFIGS, Seed
from tests.campaigns.fuzz.values import VALUES
from tests.networks import references

REFERENCES = {
    "ns2_lossy": references.LOSSY, "ns2_linux": references.LINUX, "linux_kernel_bulk": references.KERNEL,
    "ns2_linkdown": references.LINKDOWN, "linux_kernel_pair": references.PAIR,
    "ns_manet": references.MANET,
}  # fmt: skip
ROWS = 3


def playground(folder: Path) -> Path:
    """Make a copy of the configs, in which mutated files are written beside the files that they name."""
    return Path(shutil.copytree(CONFIGS, folder / "configs", ignore=shutil.ignore_patterns("__pycache__")))


def scenario(path: Path) -> None:
    """Check a scenario file, build its rows, and read its resolved form again."""
    _scenario(load_scenario(path), path)


def _scenario(loaded: Scenario, path: Path) -> None:
    build(loaded, replications=ROWS)
    key(loaded)
    again = path.with_suffix(".again.yaml")
    again.write_text(yaml_text(resolved(loaded)), encoding="utf-8")
    if load_scenario(again) != loaded:
        raise AssertionError("the written scenario is read as another one")


def sweep(path: Path) -> None:
    """Check a sweep file, build rows of its first cells, and build the sweep from its manifest again."""
    loaded = load_sweep(path)
    manifest = json.loads(json.dumps(loaded.manifest()))
    cells = np.arange(min(ROWS, loaded.n_cells))
    for batch in loaded.batches(cells):
        given = {name: values.repeat(2) for name, values in batch.given.items()}
        build_rows(loaded.variants[batch.variant], replications=np.tile([0, 1], len(batch.at)), given=given)
        keys(loaded, batch)
    if Sweep.from_definition(manifest["definition"]).digest != loaded.digest:
        raise AssertionError("the written sweep is read as another one")


def plan(path: Path) -> None:
    """Check a plan file and build rows at both ends of its quantity."""
    loaded = load_plan(path)
    for value in (loaded.values[0], loaded.values[-1]):
        _scenario(loaded.scenario(value), path)


def mapping(path: Path) -> None:
    """Check a mapping, and the rows of a reference that it reads."""
    name = path.stem.removesuffix("-mutated")
    reference = path.with_name(f"{name}.csv")
    reference.write_text(REFERENCES.get(name, ""))
    loaded = load_mapping(str(path))
    if name in REFERENCES:
        read_rows(reference, loaded)


def study(path: Path) -> None:
    """Check the description of a study."""
    document = read_yaml(path)
    Description.check(document.data, document=document)


DRIVES: dict[str, Callable[[Path], None]] = {
    "scenario": scenario, "sweep": sweep, "plan": plan, "mapping": mapping, "study": study,
}  # fmt: skip


def drive(seed: Seed, text: str, configs: Path) -> None:
    """Read a mutated text in place of its seed. Raises InputError."""
    path = configs / seed.place.with_name(f"{seed.place.stem}-mutated.yaml")
    path.write_text(text, encoding="utf-8", errors="surrogatepass")
    DRIVES[seed.kind](path)


def reference(rng: Random, folder: Path) -> tuple[set[str], Callable[[], object]]:
    """Return the words by which a message may name the changed field of a reference, and a function that
    reads it.
    """
    name = rng.choice(sorted(REFERENCES))
    table: list[list[Any]] = list(csv.reader(REFERENCES[name].splitlines()[name == "ns2_lossy" :]))
    row, column = rng.randrange(len(table)), rng.randrange(len(table[0]))
    text = rng.choice((*VALUES, "nan", "inf", "1e400", "-5", "0", "=cmd", '"', "\n", "9" * 400))
    words = {table[0][column], table[0][column].removesuffix("_mean"), text[:12]}
    table[row][column] = text
    out = io.StringIO()
    csv.writer(out).writerows(table)
    path = folder / f"{name}.csv"
    path.write_text(out.getvalue(), encoding="utf-8")
    return words, lambda: read_rows(path, load_mapping(name))
