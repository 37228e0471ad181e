"""Errors shown to users, one line per fault: unusable input, or a machine without enough memory or disk."""

from collections.abc import Iterable
from difflib import SequenceMatcher
from types import TracebackType

MAX_LINE = 1000
"""Maximum length of a line [characters]; a longer line is cut in the middle."""
MAX_LINES = 1000
"""Maximum number of lines of one error."""


class InputError(ValueError):
    """Input that cannot be used.

    Each of `lines` describes one fault: what is wrong, where, what is allowed, and what to write.
    """

    def __init__(self, *messages: str) -> None:
        """Create an error from one message per fault; each message becomes one line."""
        lines = list(dict.fromkeys(map(_on_one_line, messages)))
        if len(lines) > MAX_LINES:
            rest = f"these are the first {MAX_LINES} of {len(lines)} errors; correct them and run again"
            lines = [*lines[:MAX_LINES], rest]
        super().__init__(*lines)

    @property
    def lines(self) -> tuple[str, ...]:
        """Messages, one line per fault."""
        return self.args

    def __str__(self) -> str:
        """Return the lines as one text."""
        return "\n".join(self.args)


def _on_one_line(message: str) -> str:
    line = " ".join(message.split())
    return line if len(line) <= MAX_LINE else f"{line[:600]} ... {line[-300:]}"


def prefixed(error: InputError, words: str) -> InputError:
    """Return the error with `words`, such as the name of a file, in front of each line."""
    return InputError(*(f"{words}{line}" for line in error.lines))


class Faults:
    """Collects the errors of parts that are checked independently, to raise them together.

    Each part is checked in a `with faults:` block, which ends at its first InputError.  The block after the
    last part is `faults.refuse()`.
    """

    def __init__(self) -> None:
        """Begin without a fault."""
        self.lines: list[str] = []

    def __enter__(self) -> None:
        return None

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        if not isinstance(error, InputError):
            return False
        self.lines += error.lines
        return True

    def refuse(self) -> None:
        """Raise InputError if there was a fault."""
        if self.lines:
            raise InputError(*self.lines)


class MachineError(Exception):
    """Failure of the machine, such as a full disk, in one line; the input may be correct."""


MIN_SIMILARITY = 0.75
"""Minimum similarity (`difflib`, 0 to 1) of a misspelled name to the intended one; quic and cubic have 0.67.

Two names with the same letters, such as tpc and tcp, also count as similar.
"""


def closest(name: str, known: Iterable[str], *, cutoff: float = MIN_SIMILARITY) -> str | None:
    """Return the known name of which `name` is a misspelling or a word; None if there is none."""
    names, written = sorted(known), name.lower()
    likeness = {each: SequenceMatcher(None, written, each.lower()).ratio() for each in names}
    words = [each for each in names if written in each.lower().replace(".", "_").split("_")]
    near = [each for each in names if likeness[each] >= cutoff or sorted(written) == sorted(each.lower())]
    return max(near or words, key=lambda each: likeness[each], default=None)


def suggest(name: str, known: Iterable[str], *, cutoff: float = MIN_SIMILARITY) -> str:
    """Return the remedy for an unknown name: the known name that was probably intended, or all known
    names."""
    names = sorted(known)
    close = closest(name, names, cutoff=cutoff)
    return f"did you mean '{close}'?" if close else f"known: {', '.join(names)}"
