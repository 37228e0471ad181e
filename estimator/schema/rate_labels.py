"""Bit rates in labels of links: `OC-192c`, `2 x 2.5 Gbps`, `STM-16`, `10GE`."""

import re
from collections.abc import Iterable

_STEPS = {"": 1.0, "k": 1e3, "m": 1e6, "g": 1e9, "t": 1e12}
_NUMBER = r"(\d+(?:[.,]\d+)?)"
_UNITS = (
    r"(?i:([kmgt]?)\s*(?:bps|b/s|bits?/s(?:ec)?))",
    r"(?i:([kmgt])\s*(?:bs|bit|b))",
    r"(?i:([mg])(?:e|be|ige|(?:ig?a?)?bit\s*ethernet))",
    r"([MG])",
    r"([MG])\s*(?:E|BE|[eE]thernet)",
)
"""Patterns of what follows a number; the prefix is a group. A single `m` is a metre and no rate."""

_PATTERNS: tuple[tuple[str, float], ...] = (
    (r"oc-?\s*(\d+)c?", 51.84e6),
    (r"stm-?\s*(\d+)c?", 155.52e6),
    (r"sts-?\s*(\d+)c?", 51.84e6),
)
"""Multiples of the rates of SONET and SDH (ITU-T G.707, ANSI T1.105)."""

_WORDS = {
    r"(?:ds|t)-?1": 1.544e6, r"(?:ds|t)-?3": 44.736e6, r"e-?1": 2.048e6, r"e-?3": 34.368e6, r"ds-?0": 64e3,
    r"fast\s*ethernet|fast-?e|fe|100base-?\w+": 100e6,
    r"gige|gbe|ge|gigabit\s*ethernet|gigabit|1000base-?\w+": 1e9,
}  # fmt: skip
"""Names of rates (ITU-T G.702, IEEE 802.3)."""

_BOUND = re.compile(
    r"[<>≤≥~]|\d\s*(?:-|–|to|/)\s*\d|\bn\s*[x*×]|"
    r"\b(?:up to|less|more|below|above|under|over|at (?:least|most)|max|min)\b"
)
"""Mark of a label that states a range or a bound instead of a rate."""

_BYTES = re.compile(r"\d\s*[kMGT]B(?:/s|ps)?\b")
"""Rate in bytes per second, which is ambiguous: labels also write it for bits per second."""

_EQUAL = 1.05
"""Largest ratio of two rates in a label that count as the same rate."""


def of_text(text: str) -> float | None:
    """Return the rate in a label [bit/s]; None if it has none, several that differ, a range or a bound.

    Rates that differ by at most 5 %, as in `155 Mbps OC-3`, are one: the exact one of the standard.
    """
    text = " ".join(text.split())
    times, rest = 1.0, text
    if match := re.match(r"(\d+)\s*[x*×]\s*(?=[a-zA-Z\d])", text):
        times, rest = float(match[1]), text[match.end() :]
    elif match := re.search(r"[a-zA-Z\d]\s*[x*×]\s*(\d+)$", text):
        times, rest = float(match[1]), text[: match.start() + 1]
    if _BOUND.search(rest.lower()) or _BYTES.search(rest):
        return None
    found = [rate for rate in _rates(rest) if rate > 0]
    return times * found[0] if found and max(found) <= _EQUAL * min(found) else None


def _rates(text: str) -> Iterable[float]:
    """Yield the rates in a text [bit/s], those of standards first."""
    small = text.lower()
    for pattern, one in _PATTERNS:
        yield from (float(match[1]) * one for match in re.finditer(rf"\b{pattern}\b", small))
    for pattern, rate in _WORDS.items():
        if re.search(rf"\b(?:{pattern})\b", small) and not re.search(rf"\d\s*(?:{pattern})\b", small):
            yield rate
    for pattern in _UNITS:
        for match in re.finditer(rf"(?<![\d.,]){_NUMBER}\s*{pattern}\b", text):
            yield float(match[1].replace(",", ".")) * _STEPS[match[2].lower()]
