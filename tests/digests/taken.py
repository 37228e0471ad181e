"""Digests of the outcomes of every model, of one sweep per example, and of the numbers of studies."""

import hashlib
import json
from collections.abc import Iterator
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np

from netcarlo.kernels import models
from netcarlo.kernels.runtime import launch
from netcarlo.schema import fields
from netcarlo.simulation.provenance import model_version
from netcarlo.studies.evaluation import evaluate
from netcarlo.studies.study import load
from netcarlo.studies.study import names as studies
from netcarlo.sweeps.execution.chunk import run_chunk
from netcarlo.sweeps.space import identity
from netcarlo.sweeps.space.file import load_sweep
from netcarlo.sweeps.store import digests
from tests import covering
from tests.kernels.beside_twin import run_as_python
from tests.twins.rows import rows_of

FILE = Path(__file__).with_name("digests.json")
SEED = 1717
SIZES = {"small": 6, "large": 2000}
"""Random scenarios per model: small ones in the ordinary tests, uncompiled; large ones by the command."""

CELLS = {"small": 6, "large": 60}
"""Cells of each example sweep, spread over it."""

REPLICATIONS = {"small": 2, "large": 10}
"""Replications of each cell of a study."""


LONG = {
    *("adhoc_planning", "shared_planning", "multihoming_planning", "mobility_planning", "mesh_planning"),
    *("multipath_planning", "modern"),
    "manet_probing",
}
"""Items that take minutes regardless of their size, and are digested by the command only."""


def digest(*parts: bytes) -> str:
    """Return a hash in hexadecimal digits."""
    found = hashlib.blake2b(digest_size=16)
    for part in parts:
        found.update(part)
    return found.hexdigest()


def of_model(name: str, size: str) -> str:
    """Return the digest of a model's outcomes over random scenarios of its twin."""
    rows = rows_of(name, SIZES[size], seed=SEED)
    with np.errstate(over="ignore"):  # NumPy's scalars warn of what Philox intends
        out = run_as_python(name, rows) if size == "small" else launch.run(models.model(name), rows)
    return digest(str(out.shape).encode(), out.tobytes())


def sweeps() -> list[str]:
    """Return the names of the example sweeps."""
    files = (Path(str(file)) for file in resources.files("netcarlo.configs").iterdir())
    return sorted(file.stem for file in files if file.suffix == ".yaml" and "\naxes:" in file.read_text())


def of_sweep(name: str, size: str) -> str:
    """Return the digest of some cells of an example sweep, two replications each: definitions and
    results."""
    file = Path(str(resources.files("netcarlo.configs") / f"{name}.yaml"))
    space = load_sweep(file, values={"replications": 2})
    cells = np.unique(np.linspace(0, space.n_cells - 1, CELLS[size]).astype(np.int64))
    table = run_chunk(json.dumps(space.definition), cells, version=model_version()).cells
    texts = [fields.texts(identity.scenario(space, int(cell))) for cell in cells]
    # The key of a cell contains the version of the models, which changes with every change of them.
    return digest(digests.digest([table.drop_columns(["key"])]).encode(), json.dumps(texts).encode())


def of_study(name: str, size: str) -> str:
    """Return the digest of a study: its simulations, numbers and claims."""
    found = evaluate(load(name), replications=REPLICATIONS[size], seed=1, target="cpu")
    said: list[Any] = [
        [None if row.estimate is None else [float(value).hex() for value in row.estimate], row.fitted]
        for row in found.rows
    ]
    said += [[claim.id, claim.verdict, claim.evidence] for claim in found.claims]
    said += [[check.text, check.reached, check.verdict] for check in found.checks]
    cells = [cell.outcomes.tobytes() for cell in found.cells._every]
    # Outcomes that none of its networks has are left out, because later versions may add some.
    known = [cell.frame.dropna(axis=1, how="all") for cell in found.cells._every]
    frames = [frame.to_numpy(np.float64).tobytes() for frame in known]
    return digest(*cells, *frames, json.dumps(said).encode())


KINDS = {"model": of_model, "sweep": of_sweep, "study": of_study}


def all_names(size: str) -> Iterator[tuple[str, str]]:
    """Return kind and name of each item; in the ordinary tests the models are those of the covering set."""
    yield from (("model", name) for name in (covering.chosen() if size == "small" else models.MODELS))
    for kind, names in ("sweep", sweeps()), ("study", studies()):
        yield from ((kind, name) for name in names if size == "large" or name not in LONG)


def stored() -> dict[str, Any]:
    """Return the stored digests, by size, kind and name."""
    found: dict[str, Any] = json.loads(FILE.read_text())
    return found
