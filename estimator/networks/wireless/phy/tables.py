"""Parameters of 802.11n, ac, ax and be, as read from `tables.yaml`, which cites clauses and tables."""

from functools import cache
from importlib import resources
from typing import Any

import yaml

STANDARDS = ("802.11n", "802.11ac", "802.11ax", "802.11be")
GENERATIONS = ("802.11a", "802.11g", *STANDARDS)
"""Standards of stations, oldest first."""
FIRST_GENERATION = 2
"""Wi-Fi generation of the first of these: Wi-Fi 4 is 802.11n; older ones are numbered accordingly."""
BANDS = ("2.4 GHz", "5 GHz", "6 GHz")
CATEGORIES = ("voice", "video", "best_effort", "background")
"""Access categories by descending priority."""
BEHAVIOURS = ("standard", "ns3")


@cache
def tables() -> Any:
    """Return the content of `tables.yaml`; times in nanoseconds, rates in Mbit/s, widths in MHz."""
    text = (resources.files(__package__) / "tables.yaml").read_text("utf-8")
    return yaml.load(text, yaml.CSafeLoader)


def sensitivity_dbm(mcs: int, width: int) -> float:
    """Return the minimum receiver sensitivity [dBm] at which 10 % of the frames may be lost."""
    return float(tables()["mcs"][mcs]["sensitivity"] + 3 * (width // 20).bit_length() - 3)


def edca(category: str, behaviour: str) -> dict[str, int]:
    """Return the default EDCA parameters of a category: `aifsn`, `cw_min`, `cw_max` [slots], `txop` [ns]."""
    found = dict(tables()["edca"][category])
    if behaviour == "ns3":
        found["txop"] = tables()["ns3"]["txop"].get(category, found["txop"])
    return found
