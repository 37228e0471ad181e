"""Interruptions: times in which a link carries nothing, or a flow uses its backup route."""

from typing import Literal, NamedTuple

Kind = Literal["outage", "handover", "handover between MAPs", "false alarm", "detour"]


class Interruption(NamedTuple):
    """A time in which a link carries nothing; for a false alarm, `end_s` is when the host has detected it.

    For a detour, the time in which packets are sent on the backup route.
    """

    kind: Kind
    start_s: float
    end_s: float
