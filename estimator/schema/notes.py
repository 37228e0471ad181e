"""Notes on what a user wrote that is valid and may be meant otherwise: a probability without its unit."""

import warnings
from collections.abc import Iterator
from typing import Any

PROBABILITIES = ("loss", "ack_loss", "frame_error", "residual_error", "ack_error")
"""Fields in which 0.1 may be meant as 0.1 %."""


class Note(UserWarning):
    """Something that is done as it is written."""


def note_bare(data: Any, source: str) -> None:
    """Warn, once a file, of probabilities that are bare numbers; `data` is as it was written in `source`."""
    found = list(_bare(data, ""))
    if found:
        name, value = found[0]
        more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
        read = f"{100 * value:.12g} %"
        text = f"{source}: {name} = {value} has no unit and is taken for {read}; write {read}{more}"
        warnings.warn(text, Note, stacklevel=3)


def _bare(data: Any, name: str) -> Iterator[tuple[str, float]]:
    if isinstance(data, dict):
        for key, value in data.items():
            yield from _bare(value, f"{name}.{key}" if name else str(key))
    elif isinstance(data, list):
        for i, value in enumerate(data):
            yield from _bare(value, f"{name}.{i}")
    elif isinstance(data, int | float) and not isinstance(data, bool) and 0 < data <= 1:
        fields = [part for part in name.split(".") if not part.isdecimal() and part not in _SHAPES]
        if fields and fields[-1] in PROBABILITIES:
            yield name, data


_SHAPES = ("uniform", "log_uniform", "choice", "normal", "mean", "sd", "min", "max")
"""Of distributions: what they hold is of the field around them."""
