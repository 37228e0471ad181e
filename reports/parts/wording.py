"""Numbers and conditions in words, the same in pages, CSV files and on the terminal."""

import math
import re
from collections.abc import Mapping

from netcarlo.schema.readable import MINUS
from netcarlo.studies.claims import Verdict
from netcarlo.studies.comparison import Compared
from netcarlo.studies.description import Description
from netcarlo.studies.published import Published
from netcarlo.studies.selection import Value


def decimals(step: float) -> int:
    """Digits after the point that show one digit more than a published number with this last digit."""
    return max(0, 1 - math.floor(math.log10(step) + 1e-9))


def number(value: float, step: float) -> str:
    """A value with one digit more than the published one; a whole number of whole ones has no point."""
    if step >= 1 and value == round(value):
        return str(round(value))
    return f"{value:.{decimals(step)}f}" if math.isfinite(value) else ""


def estimate(row: Compared) -> str:
    """Our value of a published number, or an empty text."""
    return number(row.estimate.mean, row.published.step) if row.estimate else ""


def error(row: Compared) -> str:
    """The relative error: `+0.12 %`."""
    return f"{_signed(row.rel_error)} %" if math.isfinite(row.rel_error) else ""


def interval(row: Compared) -> str:
    """The 95 % interval of the relative error: `[+0.10, +0.15]`."""
    if row.estimate is None or not row.published.value:
        return ""
    ends = [(end - row.published.value) / row.published.value for end in row.estimate[3:]]
    return f"[{', '.join(map(_signed, sorted(ends)))}]" if all(map(math.isfinite, ends)) else ""


def _signed(part: float) -> str:
    text = f"{100 * part:+.2f}"
    return text.replace("-", MINUS) if float(text) else "0.00"


def place(published: Published) -> str:
    """The table, figure or section that prints a number: `section 4.2, figure 5`."""
    text = next((text for text in reversed(published.place.values()) if text), "")
    for short, full in (("sec", "section "), ("fig", "figure "), ("table", "table ")):
        text = re.sub(rf"\b{short}(?=\d)", full, text)
    return text.replace("/", ", ")


def conditions(description: Description, values: Mapping[str, Value]) -> str:
    """Conditions in a line."""
    return description.say(dict(values))


def where(description: Description, published: Published) -> str:
    """Place and conditions in a line."""
    return ": ".join(filter(None, (place(published), conditions(description, published.conditions))))


def metric(name: str) -> str:
    """A metric's name in words."""
    return name.removesuffix("_approx").replace("_", " ")


def capital(text: str) -> str:
    """The text with a capital letter."""
    return text[:1].upper() + text[1:]


def with_unit(text: str, unit: str) -> str:
    """A quantity with its unit in brackets."""
    return f"{text} [{unit}]" if unit else text


def of_difference(published: Published) -> str:
    """The unit of a difference."""
    return published.unit.replace("%", "percentage points")


def demand(verdict: Verdict) -> str:
    """Return the verdict on a requirement of `--check`: met or missed."""
    return {"held": "met", "not held": "missed"}.get(verdict, verdict)


def printed(published: Published) -> str:
    """The published number as the paper has it."""
    return {"read_off": "≈ ", "at_least": "≥ "}.get(published.kind, "") + published.text
