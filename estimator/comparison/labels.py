"""Labels of the sides of a comparison, and fields that are set in the scenarios among them."""

from collections.abc import Mapping, Sequence
from typing import Any

from netcarlo.errors import InputError, prefixed
from netcarlo.scenario import Scenario, scenario_of
from netcarlo.schema import fields
from netcarlo.schema.names import option_text

MAX_WORD = 20
"""Maximum length of a value that is the label of a side [characters]."""


def labels_of(
    names: Sequence[str], stems: Sequence[str], paths: Sequence[str], read: Sequence[Any]
) -> list[str]:  # fmt: skip
    """Return a label for each side: its name; if two names are the same also its file, or a letter.

    Sides from one file that differ in a single field, whose value is a word, have this word as their label.
    """
    if len(set(names)) == len(names):
        return list(names)
    for found in (stems, paths):
        if len(set(found)) == len(found):
            return [
                name if names.count(name) == 1 or name == more else f"{name} ({more})"
                for name, more in zip(names, found, strict=True)
            ]
    return _words(read) or [f"{name} ({_letter(i)})" for i, name in enumerate(names)]


def _words(read: Sequence[Any]) -> list[str]:
    """Return the values of the only field in which scenarios differ; empty unless they are words."""
    if not all(isinstance(each, Scenario) for each in read):
        return []
    settings = [dict(fields.texts(each)) for each in read]
    names = {name for name in set().union(*settings) if len({found.get(name) for found in settings}) > 1}
    if len(names) != 1 or not all(names < found.keys() for found in settings):
        return []
    values = [fields.value(each, *names) for each in read]
    words = [value for value in values if isinstance(value, str) and len(value) <= MAX_WORD]
    return words if len(set(words)) == len(read) else []


def _letter(i: int) -> str:
    return chr(ord("A") + i % 26)


def with_values(
    read: list[Any], names: Sequence[str], stems: Sequence[str], values: Mapping[str, Any]
) -> list[Any]:
    """Return the sides with fields set in the scenarios among them. Raises InputError."""
    mine: list[dict[str, Any]] = [{} for _ in read]
    for key, value in values.items():
        side, colon, field = key.rpartition(":")
        for i in _side_index(side, names, stems) if colon else range(len(read)):
            if not isinstance(read[i], Scenario):
                raise InputError(
                    f"--set {key}: {names[i]} is a result, not a scenario; set fields of scenarios only"
                )
            mine[i][field if colon else key] = value
    return [
        _with_fields(each, found, values) if found else each for each, found in zip(read, mine, strict=True)
    ]


def _with_fields(scenario: Scenario, mine: Mapping[str, Any], values: Mapping[str, Any]) -> Scenario:
    """Return a scenario with fields set. Raises InputError that names the options that set them."""
    try:
        return scenario_of(scenario, values=mine)
    except InputError as error:
        keys = [key for key in values if {key, key.rpartition(":")[2]} & mine.keys()]
        options = " ".join(option_text(key, values[key]) for key in keys)
        raise prefixed(error, f"{options}: ") from None


def _side_index(side: str, names: Sequence[str], stems: Sequence[str]) -> list[int]:
    """Return the index of the side that is meant by its name, the stem of its file, or its letter."""
    letters = [_letter(i) for i in range(len(names))]
    for known in (names, stems, letters):
        if (count := list(known).count(side)) == 1:
            return [list(known).index(side)]
        if count > 1:
            found = ", ".join(letter for letter, one in zip(letters, known, strict=True) if one == side)
            raise InputError(f"--set {side}:...: several sides have the name {side}; write one of {found}")
    sides = ", ".join(f"{letter} ({name})" for letter, name in zip(letters, names, strict=True))
    raise InputError(f"--set {side}:...: no side has the name '{side}'; the sides are {sides}")
