"""A time in which a link carries nothing."""

from typing import Literal, NamedTuple

Kind = Literal["outage", "handover", "handover between MAPs", "false alarm"]


class Interruption(NamedTuple):
    """A time in which a link carries nothing; of a false alarm, when the host has noticed it."""

    kind: Kind
    start_s: float
    end_s: float
