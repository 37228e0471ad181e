"""Reactions of TCP senders to a loss or a broken route (docs/models/probing.md)."""

from enum import IntEnum


class LossResponse(IntEnum):
    """Reactions of TCP senders to a loss or a route break."""

    PLAIN = 0  # standard TCP
    PROBING = 1  # TCP Probing: pauses for two round trips of probes, keeps the window
    NEW_PROBING = 2  # as PROBING after a timeout; keeps the window without probes otherwise
    ELFN = 3  # freezes its state while there is no route
    ELN = 4  # keeps the window if the receiving host has detected a link error


def of(sender: str) -> int:
    """Return the reaction of a sender by its name, PLAIN for most."""
    return int(LossResponse.__members__.get(sender.upper(), LossResponse.PLAIN))
