"""The one error a user sees: what they wrote cannot be used, said in one line."""

from collections.abc import Iterable
from difflib import get_close_matches


class InputError(ValueError):
    """One line that names the field, its value, the allowed range and the remedy."""

    def __init__(self, message: str) -> None:
        """Put the message on one line."""
        super().__init__(" ".join(message.split()))


def nearest(name: str, known: Iterable[str], *, cutoff: float = 0.5) -> str:
    """The remedy for an unknown name: the nearest known one that is at least so similar, or all of them."""
    names = sorted(known)
    close = get_close_matches(name, names, n=1, cutoff=cutoff)
    return f"did you mean '{close[0]}'?" if close else f"known are {', '.join(names)}"
