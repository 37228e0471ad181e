"""Table of senders: agreement with the modules that it names, and unchanged numbers."""

from importlib import import_module

import pytest

from netcarlo.kernels import senders
from netcarlo.kernels.senders import BY_NAME, MIXABLE, NAMES, SENDERS, Sender
from netcarlo.kernels.tcp import heterogeneous, slots

STORED = {
    0: "udp", 1: "tahoe", 2: "reno", 3: "newreno", 4: "sack", 5: "vegas", 6: "bic", 7: "cubic", 8: "westwood",
    10: "linux_reno", 11: "linux_cubic", 12: "linux_bbr", 13: "linux_bbr3", 14: "linux_own",
}  # fmt: skip
"""Numbers of senders in rows, which are part of the digests."""


def test_numbers_do_not_change() -> None:
    assert {number: NAMES[number] for number in STORED} == STORED


def test_names_and_numbers_are_unique() -> None:
    assert len(BY_NAME) == len(SENDERS) and len(NAMES) == len(MIXABLE)
    assert senders.ALONE not in NAMES and max(NAMES) < 63  # sender numbers are bits of a 64-bit mask


@pytest.mark.parametrize("sender", [s for s in SENDERS if s.recovery], ids=lambda s: s.name)
def test_the_table_says_what_the_loss_recovery_does(sender: Sender) -> None:
    scheme = slots.whole(import_module(f"netcarlo.kernels.tcp.{sender.recovery}"))
    assert (scheme.FIRST == 1, scheme.SACK) == (sender.handshake, sender.sack)


@pytest.mark.parametrize("sender", SENDERS, ids=lambda s: s.name)
def test_every_module_and_fluid_window_exists(sender: Sender) -> None:
    if sender.control:
        module = senders.control_of(senders.protocol(sender), control(sender))
        assert import_module(f"netcarlo.kernels.{module}")
    if sender.fluid:
        own = sender.number is None or sender.fluid in (sender.name, "sack")
        assert own and BY_NAME[sender.fluid].fluid == sender.fluid


def control(sender: Sender) -> str:
    """Return the congestion control that accompanies the protocol of a sender; "" for none."""
    if sender.dialect == "linux":
        return sender.name.removeprefix("linux_")
    return "" if sender.name == senders.protocol(sender) else sender.name


@pytest.mark.parametrize("number", [n for n in NAMES if BY_NAME[NAMES[n]].dialect == "ns2"])
def test_a_mixture_looks_up_what_the_table_says(number: int) -> None:
    columns = [0] * heterogeneous.COLUMN + [number]
    sender = BY_NAME[NAMES[number]]
    assert (
        heterogeneous.first_of(columns) == sender.handshake and heterogeneous.sack_of(columns) == sender.sack
    )
    recovery, window = heterogeneous.PARTS[number]
    assert recovery.__name__.endswith(f"tcp.{sender.recovery}")
    assert window.__name__.endswith(f"congestion.{sender.control}")
