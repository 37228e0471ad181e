"""Texts of the tables by link and by flow, and the sentence about the busiest link."""

import math

import pandas as pd

from netcarlo.estimation.estimate import Estimate
from netcarlo.reports.parts import values
from netcarlo.schema.readable import say

HEADS = {
    "rate_bps": "rate", "utilisation": "used", "drop_ratio": "dropped", "mean_queue": "mean queue",
    "longest_wait_s": "longest wait", "goodput_bps": "goodput", "mean_rtt_s": "mean RTT", "sent": "sent",
    "retransmitted": "retransmitted", "drops_queue": "drops in queues", "completion_s": "completion time",
}  # fmt: skip
"""Headers of columns by outcome."""


def busiest(found: Estimate) -> str:
    """Return the sentence about the busiest link: `Busiest link: A-B, 50 % of 10 Mbit/s used`."""
    link = found.by_link().iloc[0]
    rate = f" of {_text('rate_bps', link['rate_bps'])}" if math.isfinite(link["rate_bps"]) else ""
    return f"Busiest link: {link.name}, {_text('utilisation', link['utilisation'])}{rate} used"


def texts(table: pd.DataFrame) -> pd.DataFrame:
    """Return a table by link or by flow as texts with units; columns without any value are left out."""
    kept = [str(name) for name in table if table[name].notna().any()]
    columns = {HEADS[name]: [_text(name, value) for value in table[name]] for name in kept}
    return pd.DataFrame(columns, index=table.index)


def _text(name: str, value: float) -> str:
    if not math.isfinite(value):
        return "varies" if math.isinf(value) else ""
    return say(float(value), values.unit_of(name), 4)
