"""The errors a user sees, each said in one line: what they wrote cannot be used, or the machine is full."""

from collections.abc import Iterable
from difflib import get_close_matches

LONGEST = 1000
"""Most characters of a message; of a longer one the middle is left out."""


class InputError(ValueError):
    """One line that names the field, its value, the allowed range and the remedy."""

    def __init__(self, message: str) -> None:
        """Put the message on one line."""
        line = " ".join(message.split())
        super().__init__(line if len(line) <= LONGEST else f"{line[:600]} ... {line[-300:]}")


class MachineError(Exception):
    """One line about what the machine could not do, such as a full disk; the input may be good."""


def nearest(name: str, known: Iterable[str], *, cutoff: float = 0.5) -> str:
    """The remedy for an unknown name: the nearest known one that is at least so similar, or all of them."""
    names = sorted(known)
    close = get_close_matches(name, names, n=1, cutoff=cutoff)
    return f"did you mean '{close[0]}'?" if close else f"known are {', '.join(names)}"
