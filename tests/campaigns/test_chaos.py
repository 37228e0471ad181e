"""The attacks at a small size; `python -m tests.campaigns chaos` is the full one."""

import os

import pytest

from netcarlo.sweeps.execution import run as running
from netcarlo.sweeps.execution.executors import open_workers
from netcarlo.sweeps.execution.run import run
from tests.campaigns.chaos.attacks import ATTACKS
from tests.campaigns.chaos.sweeps import SMALL, Sweep
from tests.sweeps import fakes

pytestmark = pytest.mark.skipif(os.name != "posix", reason="needs POSIX signals: run on Linux or macOS")


@pytest.fixture(scope="module")
def sweep(tmp_path_factory):
    return Sweep(tmp_path_factory.mktemp("chaos"), SMALL)


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.__name__)
def test_nothing_is_lost_doubled_or_computed_again(attack, sweep, tmp_path):
    attack(sweep, tmp_path / "store")


def test_a_cell_that_kills_its_workers_fails_alone(monkeypatch):
    monkeypatch.setattr(running, "failed", fakes.failed)
    sweep = fakes.Sweep(40, 2, poison=[12])
    store = fakes.Store(sweep)
    with open_workers(workers=2) as found:
        summary = run(
            sweep, store, executor=found.executor, slots=found.slots, submit=fakes.deadly_chunk, chunk=2
        )
    assert store.times() == dict.fromkeys(range(40), 1)
    assert {cell for cell, status in store.written if status == "failed"} == {12, 13}
    assert all("KilledWorker" in error for _, error in summary.failures)
