"""The attacks at a small size; `python -m tests.chaos` is the full one."""

import os

import pytest

from tests.chaos.attacks import ATTACKS
from tests.chaos.sweeps import SMALL, Sweep

pytestmark = pytest.mark.skipif(os.name != "posix", reason="needs POSIX signals: run on Linux or macOS")


@pytest.fixture(scope="module")
def sweep(tmp_path_factory):
    return Sweep(tmp_path_factory.mktemp("chaos"), SMALL)


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.__name__)
def test_nothing_is_lost_doubled_or_computed_again(attack, sweep, tmp_path):
    attack(sweep, tmp_path / "store")
