"""Results of a sweep: the same table for every executor and every split into chunks."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from netcarlo.sweeps.execution.run import run
from netcarlo.sweeps.store.store import Store
from tests.sweeps.examples import DRAWN, GRID, sweep

pytestmark = pytest.mark.full

SHUFFLED = np.random.default_rng(1)


def digest(space, folder, *, workers=2, **options):
    store = Store.create(folder, space.manifest())
    with ThreadPoolExecutor(workers) as pool:
        summary = run(space, store, executor=pool, slots=lambda: workers, **options)
    assert summary.done == space.n_cells
    return store.digest()


@pytest.mark.parametrize("data", [GRID, DRAWN], ids=["grid", "drawn"])
def test_the_digest_depends_on_nothing_but_the_sweep(data, tmp_path):
    space = sweep(data)
    found = {digest(space, tmp_path / f"{workers}", workers=workers) for workers in (1, 2, 4)}
    found |= {digest(space, tmp_path / f"chunks of {n}", chunk=n) for n in (1, 10, space.n_cells)}
    found.add(digest(space, tmp_path / "shuffled", chunk=7, cells=SHUFFLED.permutation(space.n_cells)))
    assert len(found) == 1


def test_the_parts_of_a_sweep_make_the_whole(tmp_path):
    space = sweep(DRAWN)
    whole = digest(space, tmp_path / "whole")
    store = Store.create(tmp_path / "parts", space.manifest())
    with ThreadPoolExecutor(2) as pool:
        for part in np.array_split(SHUFFLED.permutation(space.n_cells), 3):
            run(space, store, executor=pool, slots=lambda: 2, cells=part)
    assert store.digest() == whole
    assert [record["cells"] for record in store.runs()] == [8, 8, 8]
