"""Cluster shared by all tests that end no workers; the others start their own."""

import time
from collections.abc import Iterator
from functools import partial

import pytest

from netcarlo.simulation.executors import StoppedError, Workers, open_workers
from tests.shared import Shared

SETTLED_S = 5.0
"""Seconds to wait until the chunks of the previous test have left the scheduler."""


def idle(found: Workers) -> bool:
    """Return True if both workers are running, without remains of earlier tests."""
    scheduler = found.executor.client.cluster.scheduler  # type: ignore[attr-defined]
    end = time.monotonic() + SETTLED_S
    while scheduler.tasks and time.monotonic() < end:
        time.sleep(0.01)
    try:
        return not scheduler.tasks and found.slots() == 2
    except StoppedError:
        return False


@pytest.fixture(scope="session")
def shared_cluster() -> Iterator[Shared[Workers]]:
    """Return the cluster of this process; tests use `two_processes`."""
    shared = Shared(partial(open_workers, workers=2), idle)
    yield shared
    shared.close()


@pytest.fixture
def two_processes(shared_cluster: Shared[Workers]) -> Workers:
    """Return two processes of a local cluster, shared by all tests that end neither of them."""
    return shared_cluster.get()
