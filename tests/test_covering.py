"""Covering set: it has every feasible pair, by a check that shares no code with its computation."""

import random
import time

import pytest

from netcarlo.kernels import models
from tests import covering

FIELDS = (
    "family", "sender", "control", "mobile", "fluid", "aqm", "arrivals", "varying", "messages", "autotuning",
    "delays", "edca", "reordering", "migration",
)  # fmt: skip


def test_axes_are_the_fields_in_which_models_differ() -> None:
    known = covering.axes(covering.addresses().values())
    assert tuple(known) == FIELDS
    assert known["family"] == ["adhoc", "path", "shared", "wireless"]
    assert all(known[name] == [False, True] for name in FIELDS[3:])


@pytest.mark.full
@pytest.mark.parametrize("start", [(), models.NAMES])
def test_every_pair_that_a_model_has_is_in_the_covering_set(start: tuple[str, ...]) -> None:
    begun = time.process_time()
    chosen = covering.covering(covering.addresses(), start=start)
    assert time.process_time() - begun < 10
    assert len(chosen) == len({*chosen})
    assert len(chosen) < (100 if not start else 135)  # 90 and 125 before MPTCP and QUIC
    assert chosen[: len(start)] == [*start]
    known = [models.model(name).address for name in chosen]
    every = [model.address for model in models.MODELS.values()]
    for i, first in enumerate(FIELDS):
        for second in FIELDS[:i]:
            feasible = {(getattr(each, first), getattr(each, second)) for each in every}
            assert {(getattr(each, first), getattr(each, second)) for each in known} == feasible


@pytest.mark.full
def test_no_model_of_the_covering_set_is_superfluous() -> None:
    known = covering.addresses()
    chosen = covering.covering(known)
    every = covering.pairs(known.values())
    for name in chosen:
        assert covering.pairs(known[other] for other in chosen if other != name) < every, name


@pytest.mark.full
def test_the_covering_set_does_not_depend_on_the_order_of_the_models() -> None:
    known = covering.addresses()
    shuffled = [*known.items()]
    random.Random(1).shuffle(shuffled)
    assert covering.covering(dict(shuffled)) == covering.covering(known)


def test_the_models_of_the_tests_have_all_pairs_of_packets_and_of_fluids() -> None:
    """Packet models have all pairs of packet models, and fluid models those of fluids."""
    known = covering.addresses()
    chosen = covering.chosen()
    assert {*covering.EVERYDAY} <= {*chosen} <= {*known}
    for fluid in (False, True):
        tested = [known[name] for name in chosen if known[name].fluid is fluid]
        feasible = covering.pairs(each for each in known.values() if each.fluid is fluid)
        assert feasible and feasible == covering.pairs(tested)


@pytest.mark.parametrize("kind", ["digests", "ptx", "twins"])
def test_each_kind_of_test_has_the_models_that_cover_all_pairs(kind: str) -> None:
    from tests.campaigns.ptx.cases import cases
    from tests.digests.taken import all_names
    from tests.kernels import test_every_pair

    known = covering.addresses()
    has = {
        "digests": {name for kind, name in all_names("small") if kind == "model"},
        "ptx": {*cases()},
        "twins": {*test_every_pair.NAMES} | {name for name in known if known[name].fluid},
    }[kind]
    assert {*covering.chosen()} <= has


def test_the_table_says_what_lists_of_models_cover() -> None:
    every = covering.pairs(covering.addresses().values())
    table = covering.report({"for GPU hosts": models.NAMES, "all": models.MODELS}).splitlines()
    own = covering.pairs(models.model(name).address for name in models.NAMES)
    assert f"{len(models.MODELS)} models, {len(every)} pairs of values" in table[0]
    assert f"{len(own)} ({len(own) / len(every):.0%})" in table[2]
    assert table[3].count("(100%)") == 2
