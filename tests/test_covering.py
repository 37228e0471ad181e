"""The covering set has every feasible pair, by a check that shares no code with what computes it."""

import random
import time

import pytest

from netcarlo.kernels import models
from tests import covering

FIELDS = (
    "family", "sender", "control", "mobile", "fluid", "managed", "arrivals", "varying", "messages", "tuned",
    "delays", "reordering",
)  # fmt: skip


def test_axes_are_the_fields_in_which_models_differ() -> None:
    known = covering.axes(covering.addresses().values())
    assert tuple(known) == FIELDS
    assert known["family"] == ["adhoc", "path", "shared", "wireless"]
    assert all(known[name] == [False, True] for name in FIELDS[3:])


@pytest.mark.parametrize("start", [(), models.NAMES])
def test_every_pair_that_a_model_has_is_in_the_covering_set(start: tuple[str, ...]) -> None:
    begun = time.process_time()
    chosen = covering.covering(covering.addresses(), start=start)
    assert time.process_time() - begun < 10
    assert len(chosen) == len({*chosen})
    assert len(chosen) < (90 if not start else 120)
    assert chosen[: len(start)] == [*start]
    known = [models.model(name).address for name in chosen]
    every = [model.address for model in models.MODELS.values()]
    for i, first in enumerate(FIELDS):
        for second in FIELDS[:i]:
            feasible = {(getattr(each, first), getattr(each, second)) for each in every}
            assert {(getattr(each, first), getattr(each, second)) for each in known} == feasible


def test_no_model_of_the_covering_set_is_superfluous() -> None:
    known = covering.addresses()
    chosen = covering.covering(known)
    every = covering.pairs(known.values())
    for name in chosen:
        assert covering.pairs(known[other] for other in chosen if other != name) < every, name


def test_the_covering_set_does_not_depend_on_the_order_of_the_models() -> None:
    known = covering.addresses()
    shuffled = [*known.items()]
    random.Random(1).shuffle(shuffled)
    assert covering.covering(dict(shuffled)) == covering.covering(known)


def test_the_hand_made_list_covers_no_less_than_it_did() -> None:
    """Shares of pairs; 100 % with small digests and PTX of the whole covering set."""
    every = covering.pairs(covering.addresses().values())
    own = covering.pairs(models.model(name).address for name in models.NAMES)
    assert own < every
    assert len(own) >= 0.6 * len(every)
    table = covering.report({"hand-made": models.NAMES, "all": models.MODELS}).splitlines()
    assert f"{len(models.MODELS)} models, {len(every)} pairs of values" in table[0]
    assert f"{len(own)} ({len(own) / len(every):.0%})" in table[2]
    assert table[3].count("(100%)") == 2


def test_models_are_found_in_the_code_of_tests() -> None:
    def compare(name: str = "tcp_reno") -> None:
        from netcarlo.kernels.runtime import launch

        launch.run(models.model("tcp_tahoe"), None)

    assert {*covering.named(["tcp_reno", 3, models.model("sctp"), ("wifi_udp", None)])} == {
        "tcp_reno", "sctp", "wifi_udp",
    }  # fmt: skip
    assert covering.reached(compare) == {"tcp_tahoe"}
