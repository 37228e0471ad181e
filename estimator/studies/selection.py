"""Conditions of a study: their values, and selections of rows or cells by them."""

from collections.abc import Mapping

Value = str | float
"""Value of a condition: a word (`tcp`) or a number (`10.0`)."""

Where = dict[str, Value | list[Value]]
"""Selection of rows: each column must equal the value, or one of the values."""


def matches(row: Mapping[str, Value], where: Where) -> bool:
    """Return True if a row is one of those that `where` selects."""
    return all(
        column in row and row[column] in (wanted if isinstance(wanted, list) else [wanted])
        for column, wanted in where.items()
    )


def several(wanted: Value | list[Value]) -> list[Value]:
    """Return the values of a condition in a selection as a list."""
    return wanted if isinstance(wanted, list) else [wanted]


def value(text: str) -> Value:
    """Return the value of a condition as written in a file: a number if possible, else the text."""
    try:
        return float(text)
    except ValueError:
        return text
