"""Values of an axis at which the setting with the best mean loses: detection beyond chance, and wording."""

import numpy as np
import pandas as pd
import pytest

from netcarlo.reports.sweep.answers import verdict
from netcarlo.reports.sweep.results import Results
from netcarlo.reports.sweep.reversals import sentence_part
from tests.sweeps import tables

LOSSES = [0.001, 0.005, 0.01, 0.02]
PROTOCOLS = ["Reno", "CUBIC"]


def sweep(goodput: list[list[float]], half: float = 1e3, delays: int = 1, losses: list[float] = LOSSES):
    """Return a sweep with these goodputs of both protocols at each point (delay, loss)."""
    axes = [tables.axis("loss", losses), tables.axis("protocol", PROTOCOLS)]
    if delays > 1:
        axes.insert(0, tables.axis("delay", [0.1 * (k + 1) for k in range(delays)], unit="s"))
    manifest = tables.manifest(axes=axes, outcomes=["goodput_bps"], goals={})
    frame: pd.DataFrame = tables.table(manifest, range(manifest["sweep"]["n_cells"])).to_pandas()
    values = np.array(goodput, float)
    frame["goodput_bps"] = values.ravel()
    gain = np.column_stack([np.full(len(values), np.nan), values[:, 1] - values[:, 0]]).ravel()
    for column, mean in (("goodput_bps", frame["goodput_bps"]), ("goodput_bps_gain", gain)):
        frame[column], frame[f"{column}_low"], frame[f"{column}_high"] = mean, mean - half, mean + half
    return Results(manifest, frame)


WINS, LOSES = [1e6, 3e6], [1e6, 0.8e6]


@pytest.mark.parametrize(
    ("goodput", "said"),
    [
        ([WINS, WINS, LOSES, LOSES], ", but loses to Reno where loss ≥ 0.01 (−20.0 %)"),
        ([LOSES, LOSES, WINS, WINS], ", but loses to Reno where loss ≤ 0.005 (−20.0 %)"),
        ([LOSES, WINS, WINS, WINS], ", but loses to Reno where loss = 0.001 (−20.0 %)"),
        ([LOSES, WINS, LOSES, WINS], ", but loses to Reno where loss = 0.001, 0.01 (−20.0 %)"),
        ([WINS, WINS, WINS, [1e6, 1e6]], ""),
    ],
)
def test_a_change_of_sign_along_an_axis_is_named(goodput, said):
    results = sweep(goodput)
    assert sentence_part(results, "goodput_bps", 1) == said
    head = verdict(results)["head"]
    assert head.startswith("CUBIC has the highest mean goodput") and f"{said}. " in head


def test_a_difference_within_its_interval_is_no_change_of_sign():
    goodput = [WINS, WINS, WINS, LOSES]
    # Four values are judged together, so the interval is 2.5 / 1.96 times as wide as that of one.
    assert sentence_part(sweep(goodput, half=0.15e6), "goodput_bps", 1)
    assert sentence_part(sweep(goodput, half=0.18e6), "goodput_bps", 1) == ""
    assert sentence_part(sweep(goodput, half=0.21e6), "goodput_bps", 1) == ""


def test_points_at_which_the_best_loses_are_counted_if_it_loses_along_no_axis():
    goodput = [WINS, WINS, WINS, WINS, WINS, WINS, WINS, LOSES]
    assert sentence_part(sweep(goodput, delays=2), "goodput_bps", 1) == (
        ", but loses at 1 of 8 points, for example to Reno where delay = 200 ms and loss = 0.02"
    )
    assert sentence_part(sweep([WINS] * 8, delays=2), "goodput_bps", 1) == ""


def test_both_axes_are_named():
    goodput = [[1e6, 9e6], WINS, WINS, LOSES, LOSES, LOSES, LOSES, LOSES]
    assert sentence_part(sweep(goodput, delays=2), "goodput_bps", 1) == (
        ", but loses to Reno where delay = 200 ms (−20.0 %) and where loss = 0.02 (−20.0 %)"
    )
