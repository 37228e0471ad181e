"""Reading of measurements in any of the known formats, recognised by content."""

import json
from pathlib import Path
from typing import Any

from netcarlo.errors import InputError, prefixed
from netcarlo.measurements import flent, flowmon, iperf3, tables
from netcarlo.measurements.record import Measurement
from netcarlo.schema import document as files
from netcarlo.schema import kinds, programs


def read(path: str | Path) -> list[Measurement]:
    """Return the runs in a file, which may be compressed by gzip: one, or several of a table.

    Raises InputError with the name of the file, and a line for each fault; a file of another kind is
    identified as what it is.
    """
    found = programs.recognised(path)
    if found is not None and not found.measured:
        raise InputError(f"{path}: this is {found.name}, not a measurement; {found.remedy.format(path)}")
    kinds.refuse_own(path, kinds.MEASURED)
    text = files.read_text(path)
    try:
        return _parse(text, str(path))
    except InputError as error:
        raise prefixed(error, f"{path}: ") from None


def _parse(text: str, source: str) -> list[Measurement]:
    first = text.lstrip("\ufeff").lstrip()[:1]
    if first == "<":
        return [flowmon.parse(text, source)]
    if first not in ("{", "["):
        return tables.parse(text, source)
    runs = _documents(text)
    several = len(runs) > 1
    return [
        _of_json(data, f"{source}, run {number}" if several else source)
        for number, data in enumerate(runs, 1)
    ]


def _documents(text: str) -> list[Any]:
    """Return the JSON in a text: one value, or several that follow each other, as `iperf3 --logfile` appends
    them."""
    if (events := iperf3.stream(text)) is not None:
        return [events]
    decoder, at, found = json.JSONDecoder(), 0, list[Any]()
    text = text.strip()
    while at < len(text):
        try:
            data, at = decoder.raw_decode(text, at)
        except (json.JSONDecodeError, RecursionError) as error:
            where = f"line {error.lineno}: " if isinstance(error, json.JSONDecodeError) else ""
            said = getattr(error, "msg", "nested too deeply")
            raise InputError(
                f"{where}is not complete JSON ({said}); was the run stopped? Run it again"
            ) from None
        found.append(data)
        at += len(text[at:]) - len(text[at:].lstrip())
    return found


def _of_json(data: Any, source: str) -> Measurement:
    keys = programs.keys(data)
    if keys >= programs.FLENT:
        return flent.parse(data, source)
    if keys & programs.IPERF3 and not keys - programs.OF_IPERF3:
        return iperf3.parse(data, source)
    have = ", ".join(sorted(keys))[:100] or "none"
    raise InputError(
        f"is JSON of another program (its keys are {have}); netcarlo reads iperf3 --json, flent, ns-3's "
        "FlowMonitor and tables (CSV)"
    )
