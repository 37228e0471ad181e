"""Set of models: the tables generate the stored list, and other models are refused with a reason."""

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from netcarlo.kernels import models, senders, space
from netcarlo.kernels.base.address import Address
from netcarlo.kernels.base.bind import UNFILLED, Slots, bind, slot, together
from netcarlo.kernels.path.model import HopSlots

STORED = Path(__file__).with_name("models.txt")
"""Name, network, sender, congestion control (- for the sender's own) and options of each model, in order."""


def line(address: Address) -> str:
    """Return the line of a model in the stored list."""
    on = [name for name in Address._fields if getattr(address, name) is True]
    return " ".join([address.name, address.family, address.sender, address.control or "-", *on])


def test_the_tables_generate_the_stored_models() -> None:
    """Check the list of models: stores contain their names, so names stay; add new models to the file."""
    assert sorted(line(address) for address in space.addresses()) == STORED.read_text().splitlines()


def test_names_are_unique_and_each_model_is_found_by_name_and_by_address() -> None:
    addresses = list(space.addresses())
    assert len(models.MODELS) == len({address.name for address in addresses}) == len(addresses)
    for name in models.NAMES:
        model = models.model(name)
        assert model.name == name and models.at(model.address) is model is models.MODELS[name]
        assert space.why_not(model.address) == ""


def test_models_of_large_networks_are_found_but_not_listed() -> None:
    for name in ("manet_sack_cubic_delays_large", "fluid_manet_newreno_large"):
        assert models.model(name).name == name and models.model(name).address.large
        assert name in models.MODELS and name not in [*models.MODELS]
    assert "tcp_sack_large" not in models.MODELS
    with pytest.raises(KeyError, match=r"tcp_sack_large: packet models of path have no option large"):
        models.model("tcp_sack_large")


def test_an_import_builds_no_model_and_imports_no_engine() -> None:
    code = """
import sys
from netcarlo.kernels import models
families = "path", "shared", "wireless", "adhoc", "tcp", "linux", "sctp", "fluid"
print([name for name in families if f"netcarlo.kernels.{name}" in sys.modules], models._built.cache_info()[3])
models.model("tcp_newreno")
print([name for name in families if f"netcarlo.kernels.{name}.model" in sys.modules])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["[] 0", "['path']"]


@given(
    st.sampled_from([*space.NETWORKS, "quantum"]),
    st.sampled_from([*space.EVERYWHERE, "elfn", "udp", "mixed"]),
    st.sampled_from(["", *senders.WINDOWS, *senders.OF_LINUX, "linux"]),
    st.sets(st.sampled_from(Address._fields[3:]), max_size=3),
)  # fmt: skip
def test_an_address_has_a_model_unless_the_tables_say_why_not(
    family: str, sender: str, control: str, on: set[str]
) -> None:
    options: dict[str, Any] = dict.fromkeys(on, True)
    address = Address(family, sender, control)._replace(**options)
    listed = address._replace(large=address.large and family != "adhoc")
    assert (space.why_not(address) == "") == (listed in set(space.by_name().values()))


@pytest.mark.parametrize(
    ("address", "reason"),
    [
        (Address("ring", "udp"), "there is no packet model of ring; known: path, shared, wireless, adh"),
        (Address("path", "elfn"), "packet models of path do not support elfn; supported: tahoe, reno, newr"),
        (Address("path", "vegas", "bic"), "vegas does not support the congestion control bic; supported: i"),
        (Address("shared", "tahoe", mobile=True), "have no option mobile; supported: aqm, arrivals"),
        (Address("path", "tahoe", autotuning=True), "autotuning is supported only with linux"),
        (Address("path", "tahoe", mobile=True, varying=True), "mobile and varying cannot be combined"),
        (Address("path", "sctp", fluid=True, delays=True), "delays and sctp cannot be combined"),
    ],
)
def test_what_has_no_model_is_refused_with_a_reason(address: Address, reason: str) -> None:
    assert reason in space.why_not(address)
    with pytest.raises(KeyError, match="there is no model"):
        models.at(address)


first: Any = slot("first")
second: Any = slot("second")


def names_one() -> Any:
    return first


def names_both() -> Any:
    return first + second


@dataclass(frozen=True, kw_only=True)
class Two(Slots):
    """Two slots."""

    first: int
    second: Any = UNFILLED


def plain(function: Any) -> Any:
    return function


def test_a_slot_that_is_missing_superfluous_or_filled_twice_is_refused() -> None:
    assert bind(names_both, plain, Two(first=1, second=2))() == 3
    assert bind(names_one, plain, Two(first=1))() == 1
    with pytest.raises(KeyError, match="no slot 'second'"):
        bind(names_both, plain, Two(first=1))
    with pytest.raises(ValueError, match="Two fills second, which nothing looks up"):
        bind(names_one, plain, Two(first=1, second=2))
    with pytest.raises(ValueError, match="'first' is filled twice, with 1 and 2"):
        together(Two(first=1), {"first": 2})
    with pytest.raises(TypeError, match="queue"):
        HopSlots(queue=True)  # type: ignore[call-arg]


@pytest.mark.full
@pytest.mark.parametrize("name", ["tcp_newreno", "shared_linux_bbr", "wifi_mixed_linux", "manet_eln", "udp"])
def test_a_superfluous_slot_of_a_model_is_refused(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Check that a slot which no function of a model looks up is refused."""
    model = models.model(name)
    model.make(plain)
    filled = Slots.filled
    monkeypatch.setattr(Slots, "filled", lambda self: filled(self) | {"superfluous": 1})
    with pytest.raises(ValueError, match="fills superfluous, which nothing looks up"):
        model.make(plain)

