"""A time in which a link carries nothing, or a flow goes around it."""

from typing import Literal, NamedTuple

Kind = Literal["outage", "handover", "handover between MAPs", "false alarm", "detour"]


class Interruption(NamedTuple):
    """A time in which a link carries nothing; of a false alarm, when the host has noticed it.

    Of a detour: in which packets of a flow that set out take its other route.
    """

    kind: Kind
    start_s: float
    end_s: float
