"""The page of a fit: answer, fields, measured and fitted curves, posterior densities, numbers."""

from netcarlo.calibration.fit.result import Curve, Fitted, Parameter
from netcarlo.reports.fit import wording
from netcarlo.reports.page import page
from netcarlo.reports.parts.figures import COLOURS, Plot, plot, rounded
from netcarlo.schema.readable import say, scale

MOST_CURVES = 12
"""Maximum number of figures of curves."""
TONES = {"determined": "good", "not determined": "bad"}


def fit_page(found: Fitted, *, command: str) -> str:
    """Return the HTML of the page of a fit."""
    short = wording.names(found)
    return page(
        "fit.html",
        title=f"Fit of {found.scenario.name}",
        answer=wording.answer(found),
        remarks=wording.remarks(found),
        coverage=wording.coverage(),
        parameters=[
            {
                "field": one.free.name, "value": wording.value(one), "interval": wording.interval(one),
                "searched": wording.searched(one), "verdict": one.verdict,
                "tone": TONES.get(one.verdict, "open"),
            }
            for one in found.parameters
        ],
        curves=[
            {"name": f"curve-{k}", "caption": _caption(curve, len(found.runs) > 1), "plot": _curve(curve)}
            for k, curve in enumerate(found.curves[:MOST_CURVES])
        ],
        densities=[
            {"name": f"density-{k}", "caption": f"{one.free.name}: {one.verdict}", "plot": _density(one)}
            for k, one in enumerate(found.parameters)
        ],
        errors=[
            {
                "kind": wording.NAMES[one.kind], "n": one.n, "fitted": wording.error(one, one.fitted),
                "left_out": wording.error(one, one.left_out),
            }
            for one in found.errors
        ],
        numbers=[
            {
                "run": row.run, "kind": wording.NAMES[row.kind],
                "time": f"{row.start_s:.3g} to {row.end_s:.3g} s",
                "measured": _text(row.measured, row.kind), "fitted": _text(row.fitted, row.kind),
                "sd": _text(row.sd, row.kind),
                "left_out": _text(row.left_out, row.kind) if row.left_out == row.left_out else "–",
            }
            for row in found.numbers
        ],
        left_out=found.folds,
        settings="\n".join(f"{name}: {text}" for name, text in found.settings.items()),
        found=found,
        short=short,
        command=command,
    )  # fmt: skip


def _text(value: float, kind: str) -> str:
    return say(value, wording.UNITS[kind], 4)


def _caption(curve: Curve, several: bool) -> str:
    kind = wording.NAMES[curve.kind]
    run = f" of {curve.run}" if several else ""
    return f"{kind[:1].upper()}{kind[1:]}{run}: measured, and 95 % of simulated runs with the fitted values"


def _curve(curve: Curve) -> Plot:
    shown = scale([*curve.measured, *curve.high], wording.UNITS[curve.kind])
    x = [rounded(t) for t in curve.fitted_s]
    low, mean, high = (
        [rounded(v / shown.factor) for v in part] for part in (curve.low, curve.fitted, curve.high)
    )
    band: Plot = {
        "x": [*x, *x[::-1]], "y": [*high, *low[::-1]], "mode": "lines", "fill": "toself", "hoverinfo": "skip",
        "line": {"width": 0}, "fillcolor": "rgba(0,119,204,0.18)", "name": "95 % of simulated runs",
    }  # fmt: skip
    return plot(
        [
            band,
            {
                "x": x, "y": mean, "mode": "lines", "name": "fitted, mean",
                "line": {"color": COLOURS[0], "width": 2},
            },
            {
                "x": [rounded(t) for t in curve.measured_s],
                "y": [rounded(v / shown.factor) for v in curve.measured],
                "mode": "lines+markers", "name": "measured", "marker": {"size": 4},
                "line": {"color": COLOURS[1], "width": 1.2},
            },
        ],
        x="time [s]", y=shown.label(wording.NAMES[curve.kind]), yaxis={"rangemode": "tozero"},
    )  # fmt: skip


def _density(one: Parameter) -> Plot:
    shown = scale([one.free.high], one.free.unit)
    x = [rounded(value / shown.factor) for value, _ in one.density]
    y = [rounded(share) for _, share in one.density]
    kind = "log" if one.free.scale == "log" else "linear"
    return plot(
        [{"x": x, "y": y, "mode": "lines", "fill": "tozeroy", "name": one.free.name, "showlegend": False,
          "line": {"color": COLOURS[0], "width": 2}}],
        x=shown.label(one.free.name), y="relative probability",
        xaxis={"type": kind}, yaxis={"range": [0, 1.05]},
    )  # fmt: skip
