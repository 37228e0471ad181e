"""Causes of events: what a scenario must have for an outcome to differ from zero.

An `Outcome` that only some scenarios can have declares its `cause`, a condition on `Given`.
"""

from typing import Any, NamedTuple

from netcarlo.kernels.senders import NOTIFIED, PROBING
from netcarlo.schema import fields
from netcarlo.schema.quantity import bounds


class Given(NamedTuple):
    """Properties of a scenario from which it follows what can happen in it."""

    network: Any
    """Network of the scenario."""
    names: frozenset[str]
    """Dotted names of the fields with a value that is not zero, false or empty."""
    senders: tuple[Any, ...]
    """Records of the senders of its flows."""

    def has(self, field: str) -> bool:
        """Return whether a field is given: consecutive parts of a dotted name, such as `loss` or
        `paths.1`."""
        return any(f".{field}." in f".{name}." for name in self.names)


def given(run: Any) -> Given:
    """Return what a scenario has."""
    names = frozenset(name for name, value in fields.flat(run) if _matters(value))
    return Given(run.network, names, tuple(run.network.senders(run)))


def _matters(value: Any) -> bool:
    """Return whether the value of a field can be other than zero, false or empty."""
    if isinstance(value, bool | str) or value is None:
        return bool(value)
    try:
        return bool(bounds(value)[1] != 0)
    except (TypeError, AttributeError):
        return True


class Fields:
    """Cause: at least one of some fields, named as in `Given.has`, is given."""

    def __init__(self, *names: str) -> None:
        self.names = names

    def __call__(self, given: Given) -> bool:
        """Return whether a scenario has the cause."""
        return any(map(given.has, self.names))


def acknowledgements(given: Given) -> bool:
    """Cause: a sender whose data is acknowledged (TCP, SCTP)."""
    return not all(sender.datagrams for sender in given.senders)


def notifications(given: Given) -> bool:
    """Cause: a TCP that probes the route or is notified of its breaks (TCP Probing, ELFN, ELN)."""
    return any(sender.given("protocol") in (*PROBING, *NOTIFIED) for sender in given.senders)


def unexpected(given: Given) -> bool:
    """Cause of an outcome that is of interest only where it is not zero."""
    return False


class Lost(NamedTuple):
    """Place where the data packets are lost that an outcome counts, or of which it is the share."""

    place: str
    """Place in text: `in queues`."""
    field: str = ""
    """Field, named as in `Given.has`, with which it counts losses at another place, too."""
    also: str = ""
    """Name of the other place in text: `policers`."""

    def where(self, given: Given) -> str:
        """Return the place of the losses in a scenario: `in queues and policers`."""
        return f"{self.place} and {self.also}" if self.field and given.has(self.field) else self.place
