"""Figures of an estimate: distribution of an outcome over replications, and its mean with interval."""

from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from netcarlo.errors import InputError, suggest

if TYPE_CHECKING:
    from netcarlo.estimation.estimate import Estimate

INK, BARS, SURE = "#1d2733", "#0077cc", "#dd7711"
WIDTH, HEIGHT, BINS = 320, 60, 32


def figure(found: "Estimate", of: str) -> Any:
    """Return a Plotly figure: histogram of an outcome over replications, its mean and 95 % confidence
    interval."""
    import plotly.graph_objects as go

    if of not in found.to_frame().index:
        raise InputError(f"'{of}' was not measured; {suggest(of, found.to_frame().index)}")
    row = found.table.loc[of]
    drawn = go.Figure(go.Histogram(x=found.outcomes.frame[of], marker={"color": BARS}, name="replications"))
    drawn.add_vrect(row["ci_low"], row["ci_high"], fillcolor=SURE, opacity=0.35, line_width=0)
    drawn.add_vline(row["mean"], line={"color": SURE, "width": 2})
    return drawn.update_layout(
        template="plotly_white", font={"color": INK}, title=repr(found) if of == "goodput_bps" else of,
        xaxis_title=of, yaxis_title="replications", showlegend=False,
    )  # fmt: skip


def picture(found: "Estimate", of: str) -> str:
    """Return a small SVG of the histogram, for the caption of a table; empty if nothing was measured."""
    values = found.outcomes.frame[of].to_numpy(np.float64)
    values, row = values[np.isfinite(values)], found.table.loc[of]
    if not len(values) or not np.isfinite([row["ci_low"], row["ci_high"]]).all():
        return ""
    low, high = min(values.min(), row["ci_low"]), max(values.max(), row["ci_high"])
    counts, _ = np.histogram(values, BINS, (low, high if high > low else low + 1))
    wide, tall = WIDTH / BINS, (HEIGHT - 10) / counts.max()
    bars = "".join(
        f'<rect x="{i * wide:.1f}" y="{HEIGHT - 10 - n * tall:.1f}" width="{wide - 1:.1f}" '
        f'height="{n * tall:.1f}" fill="{BARS}"/>'
        for i, n in enumerate(counts.tolist())
        if n
    )
    ends = [(row[end] - low) / ((high - low) or 1) * WIDTH for end in ("ci_low", "ci_high")]
    sure = f'<rect x="{ends[0]:.1f}" y="{HEIGHT - 8}" width="{max(ends[1] - ends[0], 2):.1f}" height="6" '
    label = escape(f"{of} of {len(values)} replications, below it the 95 % interval of the mean")
    size = f'width="{WIDTH}" height="{HEIGHT}"'
    return f'<svg {size} role="img" aria-label="{label}">{bars}{sure}fill="{SURE}"/></svg>'
