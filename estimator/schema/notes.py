"""Warnings about valid values of a file that often are mistakes."""

import warnings
from collections.abc import Iterator
from typing import Any

PROBABILITIES = ("loss", "ack_loss", "frame_error", "residual_error", "ack_error")
"""Fields in which 0.1 may be meant as 0.1 %."""


class Note(UserWarning):
    """Warning about a valid value that is often a mistake. The value is used as written."""


def note_bare(data: Any, source: str) -> None:
    """Warn about each probability without a unit; `data` is the content of the file `source`."""
    for name, value in _bare(data, ""):
        read = f"{100 * value:.12g} %"
        text = f"{source}: {name} = {value} has no unit and is read as {read}; write {read}"
        warnings.warn(text, Note, stacklevel=3)


def note_detection(data: Any, source: str) -> None:
    """Warn, once per file, if a mobile host uses the default of `detection`.

    Comparisons of handover protocols depend on this value.
    """
    if _mobile(data) and not _names(data, "detection"):
        text = (
            f"{source}: mobility.detection is 0.1 s by default, without duplicate address detection, which "
            "preparation includes; write 1.1 s to compare MIPv6 and HMIPv6 with protocols that prepare, "
            "or 0.1 s to keep it"
        )
        warnings.warn(text, Note, stacklevel=3)


def _mobile(data: Any) -> bool:
    """Return True if a file has the `mobility` of a path, which has a protocol."""
    if not isinstance(data, dict):
        return False
    record = data.get("mobility")
    return (isinstance(record, dict) and "protocol" in record) or _mobile(data.get("scenario"))


def _names(data: Any, field: str) -> bool:
    """Return True if a key, or a text that is the `field` of an axis, ends with the name of a field."""
    if isinstance(data, dict):
        return any(_names(key, field) or _names(value, field) for key, value in data.items())
    if isinstance(data, list):
        return any(_names(value, field) for value in data)
    return isinstance(data, str) and data.rpartition(".")[2] == field


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
"""Keys of distributions. Numbers below them are values of the field that contains the distribution."""
