"""Report of a sweep: its numbers, its size, and its behaviour in a browser."""

import json
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import pytest
from markupsafe import escape

from netcarlo.errors import InputError
from netcarlo.numerics.statistics import mean
from netcarlo.reports.parts.choices import Choice, with_choices
from netcarlo.reports.parts.figures import Plot
from netcarlo.reports.sweep.answers import cost, means, verdict, winners
from netcarlo.reports.sweep.maps import maps
from netcarlo.reports.sweep.page import Sections, sweep_page
from netcarlo.reports.sweep.results import Estimates, Results
from netcarlo.reports.sweep.wins import clearly_better
from netcarlo.simulation.outcomes import MEANING
from netcarlo.sweeps.analysis import population
from tests.reports.browser import Page
from tests.reports.first_look import TOO_WIDE, first_look
from tests.sweeps import tables
from tests.tiers import parameters

WINDOWS = {"wide": (1600, 1000, False), "phone": (390, 844, True)}
MIB = 1 << 20
COMMAND = "netcarlo rerun results/it"
Made = tuple[dict[str, Any], pd.DataFrame]


def made(*, failed: range | tuple[int, ...] = (), reached: float = 1.0, **options: Any) -> Made:
    """Return a manifest and the frame of its store, of which this part was simulated."""
    manifest = tables.manifest(**options)
    cells = range(int(manifest["sweep"]["n_cells"] * reached))
    return manifest, tables.table(manifest, cells, failed=failed).to_pandas()


def with_values(frame: pd.DataFrame, column: str, mean: list[float], half: float) -> None:
    frame[column] = mean
    frame[f"{column}_low"], frame[f"{column}_high"] = frame[column] - half, frame[column] + half


def never(frame: pd.DataFrame, outcome: str) -> pd.DataFrame:
    """Return the frame of a sweep in which an event never happened."""
    columns = [c for c in frame if c == outcome or c.startswith(f"{outcome}_")]
    return frame.assign(**{c: 0 if c.endswith("_n") else np.nan for c in columns})


AXES = [
    tables.axis("outage", [0.5, 1.0, 2.0, 8.0], unit="s", log=True),
    tables.axis("bandwidth", [64e3, 1e6, 1e7], unit="bit/s", log=True),
    tables.axis("queue", ["drop tail", "red"]),
    tables.axis("protocol", ["TCP", "SCTP"]),
]
TINY = {
    "axes": [tables.axis("delay", [0.1, 0.2], unit="s"), tables.axis("protocol", ["TCP", "SCTP"])],
    "outcomes": ["goodput_bps"],
    "goals": {},
}
DRAWN = {"draw": 96, "blocks": 8, "outcomes": ["goodput_bps", "timeouts"]}


def tiny(half: float = 0.1e6) -> Made:
    """Return two delays and two protocols with goodputs of 1, 2 and 3, 1 Mbit/s."""
    manifest, frame = made(**TINY)
    with_values(frame, "goodput_bps", [1e6, 2e6, 3e6, 1e6], half)
    gain = [np.nan, 1e6, np.nan, -2e6]
    frame["goodput_bps_gain"] = gain
    frame["goodput_bps_gain_low"] = np.subtract(gain, 0.3e6)
    frame["goodput_bps_gain_high"] = np.add(gain, 0.1e6)
    return manifest, frame


def test_means_and_gains_are_those_computed_by_hand() -> None:
    table = means(Results(*tiny()))
    assert table["heads"] == ["TCP", "SCTP"]
    assert table["rows"] == [
        {
            "head": "goodput [Mbit/s]",
            "cells": [
                {"value": "2.00", "interval": "[1.90, 2.10]", "gain": ""},
                {"value": "1.50", "interval": "[1.40, 1.60]", "gain": "−25.0 %"},
            ],
        }
    ]
    assert verdict(Results(*tiny()))["head"] == (
        "TCP has the highest mean goodput over 2 points: 2.00 Mbit/s [1.90, 2.10], before SCTP with "
        "1.50 Mbit/s [1.40, 1.60], but loses to SCTP where delay = 100 ms (−50.0 %). It is best in 50.0 % of "
        "the points."
    )


def test_ties_and_near_misses_are_counted_apart_from_wins() -> None:
    manifest, frame = tiny()
    frame["goodput_bps"] = [3e6, 3e6, 1e6, 0.995e6]  # two labels at two points: a tie, and a lead of 0.5 %
    found = Results(manifest, frame)
    often = "It is best alone in 50.0 % of the points, tied for best in 50.0 %."
    assert verdict(found)["head"].endswith(often)
    rows = winners(found)[0]["rows"]
    assert [(row["share"], row["alone"], row["near"]) for row in rows] == [
        ("75.0 %", "50.0 %", "100 %"), ("25.0 %", "0 %", "100 %"),
    ]  # fmt: skip


def test_the_cost_of_a_win_is_that_computed_by_hand() -> None:
    """The second of three labels has the best goodput, with more timeouts, a lower RTT and as many cuts."""
    axes = [tables.axis("delay", [0.1, 0.2], unit="s"), tables.axis("protocol", ["TCP", "SCTP", "UDP"])]
    outcomes = ["sent", "goodput_bps", "timeouts", "mean_rtt_s", "cwnd_reductions"]
    manifest, frame = made(axes=axes, outcomes=outcomes, goals={})
    each = {
        "sent": (1.0, 1.0, 1.0), "goodput_bps": (1e6, 1.5e6, 1.2e6), "timeouts": (2.0, 3.0, 1.0),
        "mean_rtt_s": (0.1, 0.05, 0.1), "cwnd_reductions": (10.0, 10.1, 10.0),
    }  # fmt: skip
    for name, values in each.items():
        with_values(frame, name, [*values] * 2, 0.1)
        with_values(frame, f"{name}_gain", [np.nan, *(v - values[0] for v in values[1:])] * 2, 0.01)
    frame["cwnd_reductions_gain_low"] = -0.5  # contains 0
    assert cost(Results(manifest, frame)) == (
        "SCTP against TCP: +50.0 % goodput, at the cost of +50.0 % timeouts; also better: −50.0 % mean RTT; "
        "no clear difference: +1.00 % window reductions."
    )
    frame["goodput_bps"] = [2e6, 1.5e6, 1.2e6] * 2  # the baseline has the best, before SCTP
    gain = [np.nan, -0.5e6, -0.8e6] * 2
    with_values(frame, "goodput_bps_gain", gain, 0.01e6)
    found = cost(Results(manifest, frame))
    assert found.startswith(
        "TCP against SCTP: +33.3 % goodput, at the cost of +100 % mean RTT; also better: −33.3 %"
    )


def test_without_a_comparison_a_win_has_no_cost() -> None:
    assert cost(Results(*made(axes=AXES[:2], compare=None))) == ""
    manifest, frame = made(**TINY)
    assert cost(Results(manifest, never(frame, "goodput_bps"))) == ""


@pytest.mark.parametrize("options", [{"axes": AXES}, DRAWN, {"axes": [AXES[3]], "draw": 16, "blocks": 8}])
def test_the_first_figure_follows_the_headline_and_definitions_are_last(options: dict[str, Any]) -> None:
    text = sweep_page(*made(**options), store="results/it")
    headings = re.findall(r'<h2 id="(\w+)"', text)
    assert headings[-2:] == ["provenance", "definitions"] and headings.index("answers") == 0
    figures = [at.start() for at in re.finditer("<figure", text)]
    assert text.index('id="verdict"') < figures[0] < text.index('class="tiles"') < text.index("<h2")
    assert figures[1] > text.index('<h2 id="answers"')
    names = re.findall(r'<div class="plot[^>]*id="([\w-]+)"', text)
    assert len(names) == len(set(names)) and names[0] in ("line-0", "exceedance-curve")
    for outcome in tables.manifest(**options)["sweep"]["outcomes"]:
        assert str(escape(MEANING[outcome])) in text[text.index('<h2 id="definitions"') :]


def test_the_first_figure_shows_the_outcome_of_the_headline() -> None:
    manifest, frame = made(axes=[AXES[0], AXES[3]], outcomes=["sent", "goodput_bps"], goals={})
    first = Sections(Results(manifest, frame), COMMAND, None).first
    assert first and first["plot"]["choices"][0]["start"] == 1
    assert first["plot"]["layout"]["yaxis"]["title"]["text"].startswith("goodput [")


@pytest.mark.parametrize(("half", "interval"), [(0.1e6, ""), (5e6, "[0, 100]")])
def test_wins_over_a_grid_count_what_is_clear(half: float, interval: str) -> None:
    manifest, frame = tiny(half)
    if half > 1e6:
        frame["goodput_bps_gain_low"], frame["goodput_bps_gain_high"] = -half, half
    table = winners(Results(manifest, frame))[0]
    assert table["title"] == "Goodput: more is better"
    tcp, sctp = table["rows"]
    assert (tcp["share"], tcp["interval"], tcp["lead"]) == ("50.0 %", interval, "+200 %")
    assert (sctp["share"], sctp["interval"], sctp["lead"]) == ("50.0 %", interval, "+100 %")
    if half < 1e6:
        assert (sctp["gain"], sctp["gain_interval"]) == ("−25.0 %", "[−40.0, −20.0]")


@pytest.mark.parametrize("sign", [1, -1])
def test_a_label_is_clearly_better_if_the_intervals_say_so(sign: int) -> None:
    """Verdicts agree with the intervals for all pairs of three labels, with the baseline first."""
    rng = np.random.default_rng(3)
    values, gains = (
        Estimates(mean, mean - rng.random((50, 3)), mean + rng.random((50, 3)), mean, mean.astype(str))
        for mean in rng.normal(size=(2, 50, 3))
    )
    found = clearly_better(sign, values, gains)
    for g in range(50):
        for k in (1, 2):
            gain_low, gain_high = gains.low[g, k], gains.high[g, k]
            assert found[g, k, 0] == (gain_low > 0 if sign > 0 else gain_high < 0)
            assert found[g, 0, k] == (gain_high < 0 if sign > 0 else gain_low > 0)
        low, high = values.low[g], values.high[g]
        assert found[g, 1, 2] == (low[1] > high[2] if sign > 0 else high[1] < low[2])
        assert found[g, 2, 1] == (low[2] > high[1] if sign > 0 else high[2] < low[1])


def test_an_outcome_that_is_negative_somewhere_has_no_gain_in_percent() -> None:
    manifest, frame = made(**{**TINY, "outcomes": ["restart_s"]})
    with_values(frame, "restart_s", [1.0, -0.5, 1.0, -0.5], 0.01)
    with_values(frame, "restart_s_gain", [np.nan, -1.5, np.nan, -1.5], 0.02)
    row = winners(Results(manifest, frame))[0]["rows"][1]
    assert (row["gain"], row["gain_interval"]) == ("−1.50 s", "[−1.52, −1.48]")
    assert row["share"] == "100 %"  # fewer restarts are better


USERS = [tables.axis("users", [10.0, 20.0]), tables.axis("queue", [5.0, 50.0]), AXES[3]]
OF_SHARED = ["goodput_bps", "completion_p95_s", "drop_ratio", "sent"]


def test_the_lowest_drop_ratio_and_completion_time_are_the_best() -> None:
    manifest, frame = made(axes=USERS, outcomes=OF_SHARED, goals={})
    for outcome in OF_SHARED:  # SCTP has twice as much
        with_values(frame, outcome, [0.1, 0.2] * 4, 0.01)
        with_values(frame, f"{outcome}_gain", [np.nan, 0.1] * 4, 0.01)
    results = Results(manifest, frame)
    found = {table["title"]: [row["share"] for row in table["rows"]] for table in winners(results)}
    assert found == {
        "Goodput: more is better": ["0 %", "100 %"],
        "95 % quantile of completion times: less is better": ["100 %", "0 %"],
        "Drops at the busiest link: less is better": ["100 %", "0 %"],
    }
    shown = maps(results, COMMAND)
    assert shown is not None
    best = {"0": "SCTP", "1": "TCP", "2": "TCP"}
    _, layers, outcomes, _ = shown["choices"]
    assert (layers["options"][0], outcomes["options"][3]) == ("which is best", "sent packets")
    drawn = {"0.0.0.0": shown, **shown["variants"]}
    for name, figure in drawn.items():
        _, layer, outcome, _ = name.split(".")
        if layer == "0":
            bar = figure["data"][0].get("colorbar", shown["data"][0]["colorbar"])
            assert bar["ticktext"] == [best[outcome]]
    assert {name.split(".")[2] for name in drawn if name.split(".")[1] == "0"} == set(best)
    assert "0.1.3.0" in drawn  # packets sent have gains and means


def test_of_an_outcome_without_a_direction_nothing_is_the_best() -> None:
    results = Results(*made(axes=USERS, outcomes=["sent", "in_flight"], goals={}))
    sections = Sections(results, COMMAND, None)
    assert sections.winners == []
    assert sections.shares is None
    assert sections.maps is not None
    assert "which is best" not in sections.maps["choices"][1]["options"]
    assert verdict(results)["head"].startswith("Mean sent")


def test_means_over_networks_stay_inside_what_can_be() -> None:
    manifest, frame = made(**{**DRAWN, "outcomes": ["drop_ratio"], "goals": {}})
    frame["drop_ratio"] = np.where(frame["draw"] < 12, 0.9, 0.0)
    free = population.mean(np.repeat([0.9, 0.0], [12, 84]), np.arange(96) // 12)
    found = Results(manifest, frame).estimates("drop_ratio", np.zeros(4, dtype=np.int64), 1)
    assert free.ci_low < 0 == found.low[0, 0]
    assert found.high[0, 0] == pytest.approx(free.ci_high)


def test_means_over_networks_have_the_interval_of_the_population() -> None:
    manifest, frame = made(**DRAWN)
    values = frame["goodput_bps"].to_numpy().reshape(96, 4, 5).mean(axis=1)
    expected = population.mean(values[:, 2], np.arange(96) // 12)
    assert expected.ci_low == pytest.approx(mean(values[:, 2].reshape(8, 12).mean(axis=1)).ci_low, rel=0.2)
    found = Results(manifest, frame).estimates("goodput_bps", np.zeros(4, dtype=np.int64), 1)
    assert (found.mean[0, 2], found.low[0, 2], found.high[0, 2]) == pytest.approx(
        (expected.mean, expected.ci_low, expected.ci_high)
    )
    assert found.cells[0, 2] == 96 * 4


def test_wins_of_networks_are_those_of_the_population() -> None:
    manifest, frame = made(**DRAWN)
    cube = frame["timeouts"].to_numpy().reshape(96, 4, 5)
    best = cube.argmin(axis=2)
    rows = next(t for t in winners(Results(manifest, frame)) if t["title"].startswith("Timeouts: less"))[
        "rows"
    ]
    for k, row in enumerate(rows):
        assert float(row["share"].split()[0]) == pytest.approx(100 * np.mean(best == k), rel=0.005)


def test_what_never_happened_wins_nothing() -> None:
    manifest, frame = made(outcomes=["completion_s"], goals={})
    frame = never(frame, "completion_s")
    assert {row["share"] for row in winners(Results(manifest, frame))[0]["rows"]} == {"–"}
    frame.loc[frame["protocol"] == "vegas", "completion_s"] = 3.0
    shares = {row["label"]: row["share"] for row in winners(Results(manifest, frame))[0]["rows"]}
    assert shares["vegas"] == "100 %"
    assert ": 0 in all cells." in verdict(Results(manifest, never(frame, "completion_s")))["head"]


def test_shares_are_shown_first_along_the_axis_that_matters_most() -> None:
    axes = [
        tables.axis("rate", [1e6, 2e6], unit="bit/s"),
        tables.axis("loss", [0.0, 0.1]),
        tables.axis("protocol", ["TCP", "SCTP"]),
    ]
    manifest, frame = made(axes=axes, outcomes=["goodput_bps", "timeouts"])
    with_values(frame, "goodput_bps", [3, 2, 1, 2, 3, 2, 2, 2], 0.0)  # TCP wins without loss
    shown = Sections(Results(manifest, frame), COMMAND, None).shares
    assert shown is not None
    assert [choice["options"][0] for choice in shown["choices"]] == ["loss", "goodput"]
    assert [(bar["name"], bar["x"], bar["y"]) for bar in shown["data"]] == [
        ("TCP", ["0", "0.1"], [100, 25]),
        ("SCTP", ["0", "0.1"], [0, 75]),
    ]
    other = shown["variants"]["1.0"]["data"]
    assert [bar["y"] for bar in other] == [[50, 75], [50, 25]]


def test_lines_carry_the_keys_of_their_cells() -> None:
    manifest, frame = tiny()
    first = Sections(Results(manifest, frame), COMMAND, None).first
    assert first
    trace = first["plot"]["data"][3]
    assert trace["name"] == "SCTP"
    assert trace["x"] == [100.0, 200.0]  # ms
    assert trace["y"] == [2.0, 1.0]
    assert [key for key, _ in trace["customdata"]] == [frame["key"][i][:10] for i in (1, 3)]
    assert f"{COMMAND} %{{customdata[0]}}" in trace["hovertemplate"]


def test_networks_that_differ_in_no_feature_are_shown_over_their_inputs() -> None:
    manifest, frame = made(**{**DRAWN, "inputs": ["transport.window"]})
    frame = frame.assign(bottleneck_bps=1e6, base_rtt_s=0.1, path_loss=0.0, n_hops=1, bdp_packets=8.0)
    sections = Sections(Results(manifest, frame), COMMAND, None)
    assert sections.networks is not None
    assert sections.networks["choices"][0]["options"] == ["window"]
    assert len(set(sections.networks["data"][0]["x"])) > 50


def test_exceedance_of_kept_replications_counts_them() -> None:
    manifest, frame = tiny()
    kept = pd.DataFrame({"cell": np.repeat(range(4), 4), "goodput_bps": [1.0, 2.0, 3.0, 4.0] * 4})
    first = Sections(Results(manifest, frame), COMMAND, kept).exceedance["data"][1]
    assert first["y"][0] == 100
    assert first["y"][-1] == 25
    assert first["y"][len(first["y"]) // 2] == 50


def test_of_a_time_it_is_shown_how_likely_it_is_over_by_then() -> None:
    manifest, frame = made(**{**TINY, "outcomes": ["transfer_s"]})
    kept = pd.DataFrame({"cell": np.repeat(range(4), 4), "transfer_s": [1.0, 2.0, 3.0, np.nan] * 4})
    exceedance = Sections(Results(manifest, frame), COMMAND, kept).exceedance
    first = exceedance["data"][1]
    assert (first["y"][0], first["y"][-1]) == (25, 75)  # one of four was never simulated
    assert "at most" in exceedance["layout"]["yaxis"]["title"]["text"]
    with_values(frame, "transfer_s", [1.0] * 4, 0.1)
    frame["transfer_s_n"] = 10  # of 20
    stored = Sections(Results(manifest, frame), COMMAND, None).exceedance["data"][1]
    assert max(stored["y"]) == pytest.approx(0.95 * 50)


@pytest.mark.full
def test_networks_in_which_nothing_is_ever_done_count_as_such() -> None:
    manifest, frame = made(**{**DRAWN, "outcomes": ["transfer_s"], "replications": 1, "goals": {}})
    never_done = frame["draw"] % 2 == 1
    frame["transfer_s"] = np.where(never_done, np.nan, 10.0 + frame["draw"])
    frame["transfer_s_n"] = np.where(never_done, 0, 1)
    line = Sections(Results(manifest, frame), COMMAND, None).exceedance["data"][1]
    assert line["y"][-1] == 50
    assert line["y"] == sorted(line["y"])
    at = next(i for i, x in enumerate(line["x"]) if x >= 57)
    assert line["y"][at] == pytest.approx(
        100 * np.mean([k % 2 == 0 and 10 + k <= line["x"][at] for k in range(96)])
    )


def test_goals_are_on_the_map_with_their_gains() -> None:
    manifest, frame = made(axes=AXES, goals={"in_time": "goodput_bps >= 1 Mbit/s"}, outcomes=["goodput_bps"])
    with_values(frame, "in_time", ([0.5, 0.7] * 24), 0.1)
    results = Results(manifest, frame)
    gain = results.estimates("in_time_gain", results.everywhere(), 1)
    assert gain.mean[0] == pytest.approx([0, 0.2])
    # Newcombe: the distances of the ends combine those of both shares.
    assert (gain.low[0, 1], gain.high[0, 1]) == pytest.approx((0.2 - 0.1 * 2**0.5, 0.2 + 0.1 * 2**0.5))
    shown = Sections(results, COMMAND, None).maps
    assert shown is not None
    assert shown["choices"][2]["options"][-1] == "in time"
    names = shown["choices"][1]["options"]
    layer = names.index("gain of SCTP over TCP")
    drawn = [v for key, v in shown["variants"].items() if key.split(".")[1:3] == [str(layer), "1"]]
    assert drawn
    assert all(z == pytest.approx(20) for row in drawn[0]["data"][0]["z"] for z in row)


def plots(sections: Sections) -> Iterator[Plot]:
    yield from (line["plot"] for line in [sections.first, *sections.lines] if line)
    bars = sections.bars.plot if sections.bars else None
    others = (
        sections.shares, sections.maps, sections.exceedance, sections.networks, sections.by_feature,
        sections.parallel,
    )  # fmt: skip
    yield from (plot for plot in (*others, bars) if plot is not None)


@pytest.mark.full
@pytest.mark.parametrize("options", [{"axes": AXES}, DRAWN, {**DRAWN, "method": "saltelli", "draw": 64}])
def test_every_choice_is_a_valid_figure(options: dict[str, Any]) -> None:
    count = 0
    for plot in plots(Sections(Results(*made(**options)), COMMAND, None)):
        assert len(go.Figure(plot["data"], plot["layout"]).data) == len(plot["data"])
        some = list(plot["variants"].values())[:: max(1, len(plot["variants"]) // 5)]
        for variant in some:
            pairs = zip(plot["data"], variant["data"], strict=True)
            go.Figure([{**base, **other} for base, other in pairs], {**plot["layout"], **variant["layout"]})
            count += 1
    assert count > 15


def test_choices_that_do_not_fit_stay_at_their_first_option() -> None:
    def draw(i: int, j: int) -> Plot:
        return {"data": [{"type": "scatter", "y": [10 * i + j] * 10}], "layout": {"title": i}}

    choices = [Choice("a", ["0", "1", "2"]), Choice("b", ["0", "1"], 1)]
    whole = with_choices(draw, choices, most_bytes=10_000)
    assert len(whole["variants"]) == 5
    assert whole["variants"]["2.0"] == {"data": [{"y": [20] * 10}], "layout": {"title": 2}}
    assert whole["data"][0]["y"] == [1] * 10
    assert whole["fixed"] == ""
    tight = with_choices(draw, choices, most_bytes=260)
    assert sorted(tight["variants"]) == ["1.1", "2.1"]
    assert tight["fixed"] == "b: 1"


@pytest.mark.full
@pytest.mark.parametrize("drawn", [False, True])
def test_a_hundred_thousand_cells_stay_under_six_megabytes(drawn: bool) -> None:
    axes = [
        tables.axis("rate", np.geomspace(1e5, 1e8, 64).tolist(), unit="bit/s", log=True),
        tables.axis("delay", np.linspace(0.001, 0.5, 100).tolist(), unit="s"),
        tables.axis("queue", [10.0, 20.0, 50.0, 100.0], unit="packets"),
        tables.axis("protocol", list(tables.PROTOCOLS[:4])),
    ]
    options = {"axes": [axes[2], axes[3]], "draw": 6400, "blocks": 16} if drawn else {"axes": axes}
    manifest, frame = made(**options)
    assert len(frame) == 102_400
    text = sweep_page(manifest, frame, store="results/it")
    assert len(text.encode()) < 6_000_000


@pytest.mark.full
def test_failed_cells_are_listed_with_their_error_and_command() -> None:
    manifest, frame = made(axes=AXES, failed=range(3, 7))
    text = sweep_page(manifest, frame, store="results/it")
    assert "4 of 48 cells failed." in text
    for key in frame["key"][3:7]:
        assert f"<code>{COMMAND} {key}</code>" in text
    assert text.count("FloatingPointError: made up, for tests") == 4
    many, frame = made(draw=64, failed=range(60), goals={}, outcomes=["timeouts"])
    text = sweep_page(many, frame, store="a b's")
    assert "60 of 1280 cells failed, the first 50 of them below." in text
    assert text.count("FloatingPointError") == 50
    assert str(escape("netcarlo rerun " + shlex.quote("a b's"))) in text


def test_a_store_without_a_finished_chunk_has_a_page() -> None:
    manifest, _ = made(draw=16)
    assert "None of 320 cells has a result." in sweep_page(manifest, pd.DataFrame(), store="results/it")


def test_a_key_that_is_none_is_refused() -> None:
    manifest, frame = made(failed=(3,))
    frame.loc[3, "key"] = "a; touch x #"
    with pytest.raises(InputError, match=r"cell 3 of the store has the key 'a; touch x #'; expected hex"):
        sweep_page(manifest, frame, store="results/it")


SPECIAL: dict[str, tuple[Made, str]] = {
    "no cell yet": (made(reached=0), "None of 20 cells has a result."),
    "every cell failed": (made(failed=range(20)), "All 20 cells failed."),
    "some cells missing": (made(reached=0.5), "10 of 20 cells (50.0 %) are not simulated yet"),
    "few networks yet": (made(draw=64, reached=0.1), "fewer than two blocks have results"),
    "one cell": (made(axes=[], compare=None), "Mean goodput in the only point"),
    "nothing compared": (made(axes=AXES[:2], compare=None), "Mean goodput over 12 points"),
    "one value": (made(axes=[tables.axis("delay", [0.1]), AXES[3]]), "in the only point"),
    "compared numbers": (
        made(axes=[AXES[0], tables.axis("window", [8.0, 16.0], unit="packets")], compare="window"),
        "16 packets",
    ),
    "one replication": (made(replications=1), "1 a cell"),
    "independent draws": (made(draw=64, blocks=64, method="plain", axes=[AXES[3]]), "independent"),
    "names to escape": (
        made(name="</script><b>", axes=[tables.axis("a<b>%{x}", [1.0, 2.0]), AXES[3]]),
        "&lt;/script&gt;&lt;b&gt;",
    ),
    "many axes": (
        made(axes=[*(tables.axis(f"a{i}", [1.0, 2.0]) for i in range(9)), AXES[3]]), "512"
    ),
    "many labels": (
        made(axes=[AXES[0], tables.axis("v", [f"v{i}" for i in range(25)])], compare="v"), "v24"
    ),
}  # fmt: skip


SLOW = ("few networks yet", "independent draws", "many axes", "many labels")


@pytest.mark.parametrize("case", parameters(SPECIAL, full=SLOW))
def test_special_sweeps_have_a_page(case: str) -> None:
    (manifest, frame), says = SPECIAL[case]
    page = sweep_page(manifest, frame, store="results/it")
    assert says in page.replace("\N{NO-BREAK SPACE}", " ")  # between numbers and their units


def test_a_time_that_never_happened_is_no_number_anywhere() -> None:
    manifest, frame = made()
    text = sweep_page(manifest, never(frame, "completion_s"), store="results/it")
    for data in re.findall(r'<script type="application/json"[^>]*>(.*?)</script>', text, flags=re.DOTALL):
        json.loads(data, parse_constant=pytest.fail)


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("sweeps")
    found = {}
    for name, (manifest, frame) in {
        "axes": made(axes=AXES),
        "drawn": made(**DRAWN),
        "many labels": SPECIAL["many labels"][0],
        "every cell failed": SPECIAL["every cell failed"][0],
        "markup": made(
            axes=[
                tables.axis("<b>users</b>", [1.0, 2.0]),
                tables.axis("&lt;u&gt;", ["<i>few</i>", "<a href='https://x.org'>many</a>"]),
                tables.axis("protocol", ["<b>TCP</b>", "R&amp;D"]),
            ],
            outcomes=OF_SHARED,
            goals={},
        ),
    }.items():
        found[name] = folder / f"{name}.html"
        found[name].write_text(sweep_page(manifest, frame, store="results/it"), encoding="utf-8")
    return found


def show(page: Page, path: Path, window: str) -> None:
    width, height, mobile = WINDOWS[window]
    page.open(path, width=width, height=height, mobile=mobile)


@pytest.mark.needs("chromium")
def test_first_look_at_sweep(glance: Page, tmp_path: Path) -> None:
    manifest, frame = made(axes=[AXES[0], AXES[1], AXES[3]], outcomes=["goodput_bps", "timeouts"])
    file = tmp_path / "sweep.html"
    file.write_text(sweep_page(manifest, frame, store="results/it"), encoding="utf-8")
    mean = frame[frame["protocol"] == "TCP"]["goodput_bps"].mean() / 1e6
    says = f"TCP has the highest mean goodput over 12 points: {mean:.2f} Mbit/s"
    first_look(glance, file, says=says, figure="line-0")


@pytest.mark.full
@pytest.mark.needs("chromium")
@pytest.mark.parametrize(
    ("name", "window", "count"),
    [
        ("axes", "wide", 9), ("axes", "phone", 9), ("drawn", "wide", 8), ("drawn", "phone", 8),
        ("many labels", "phone", 4), ("every cell failed", "phone", 0),
    ],
)  # fmt: skip
def test_page_is_drawn_without_complaints(
    pages: dict[str, Path], page: Page, name: str, window: str, count: int
) -> None:
    show(page, pages[name], window)
    assert page.complaints() == []
    assert page.barriers() == []
    assert page.evaluate(TOO_WIDE) <= 0
    assert page.evaluate("document.querySelectorAll('.plot').length") == count
    empty = (
        "[...document.querySelectorAll('.plot')].filter(p => "
        "!p.querySelector('.main-svg .trace path, .main-svg .bars path, .heatmaplayer image'))"
        ".map(p => p.id)"
    )
    assert page.evaluate(empty) == []
    rights = "[...document.querySelectorAll('.plot .main-svg')].map(p => p.getBoundingClientRect().right)"
    assert max(page.evaluate(rights), default=0) <= WINDOWS[window][0]
    markup = re.sub(r"<script>.*?</script>", "", pages[name].read_text(encoding="utf-8"), flags=re.DOTALL)
    assert re.findall(r'(?:src|href)="(?:https?:)?//', markup) == []


def click(page: Page, plot: str, mark: str) -> None:
    """Point at the first mark of a plot and click it."""
    page.evaluate(
        f"document.getElementById('{plot}').scrollIntoView({{block: 'center', behavior: 'instant'}})"
    )
    x, y = page.evaluate(
        f"(r => [r.x + r.width / 2, r.y + r.height / 2])"
        f"(document.querySelector('#{plot} {mark}').getBoundingClientRect())"
    )
    for kind in ("mouseMoved", "mousePressed", "mouseReleased"):
        button = "none" if kind == "mouseMoved" else "left"
        page.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button=button, clickCount=1)
        page.evaluate("new Promise(done => setTimeout(done, 100))")


@pytest.mark.full
@pytest.mark.needs("chromium")
def test_pointing_at_a_cell_shows_the_command_that_reruns_it(pages: dict[str, Path], page: Page) -> None:
    keys = {key[:10] for key in made(axes=AXES)[1]["key"]}
    show(page, pages["axes"], "wide")
    for plot, mark in (("line-0", "path.point"), ("map", ".heatmaplayer image")):
        click(page, plot, mark)
        command = page.evaluate("document.querySelector('#cell:not([hidden]) code').textContent")
        assert command.startswith(f"{COMMAND} ")
        assert command.rpartition(" ")[2] in keys
    assert page.complaints() == []


@pytest.mark.full
@pytest.mark.needs("chromium")
def test_a_choice_changes_the_figure(pages: dict[str, Path], page: Page) -> None:
    manifest, frame = made(axes=AXES)
    show(page, pages["axes"], "phone")
    page.evaluate(
        "(box => { box.value = '1'; box.dispatchEvent(new Event('change')); })"
        "(document.querySelector('select[data-plot=line-0]'))"
    )
    shown = page.evaluate("document.getElementById('line-0').data[1].y")
    rows = (
        (frame["bandwidth"] == 1e6) & (frame["queue"] == "drop tail") & (frame["protocol"] == "TCP")
    )  # the middle of the other axes
    assert manifest["sweep"]["outcomes"][1] == "timeouts"
    assert shown == pytest.approx(frame.loc[rows, "timeouts"].tolist(), rel=1e-4)
    assert page.complaints() == []


@pytest.mark.full
@pytest.mark.needs("chromium")
def test_tags_in_labels_stay_text(pages: dict[str, Path], page: Page) -> None:
    show(page, pages["markup"], "wide")
    shown = page.evaluate("[...document.querySelectorAll('.plot svg text')].map(e => e.textContent)")
    for text in ("<b>TCP</b>", "R&amp;D", "<b>users</b>", "&lt;u&gt;", "<i>few</i>"):
        assert text in shown
    assert page.evaluate("document.querySelectorAll('.plot svg a').length") == 0
    bold = "[...document.querySelectorAll('.plot svg tspan')].filter(e => e.style.fontWeight == 'bold')"
    assert page.evaluate(f"{bold}.length") == 0
    click(page, "line-0", "path.point")
    assert "<b>users</b>" in page.evaluate("document.querySelector('#line-0 .hoverlayer').textContent")
    assert page.evaluate("document.querySelector('#cell b').textContent").endswith(", <b>TCP</b>")
    assert page.complaints() == []


@pytest.mark.full
@pytest.mark.needs("chromium")
def test_what_is_best_is_not_asked_where_nothing_is(pages: dict[str, Path], page: Page) -> None:
    show(page, pages["markup"], "wide")
    boxes = "[...document.querySelectorAll('select[data-plot=map]')]"
    off = f"{boxes}.map(b => [...b.options].filter(o => o.disabled).map(o => o.textContent))"
    assert page.evaluate(off) == [[], [], [], []]
    choose = "b => { b.value = '3'; b.dispatchEvent(new Event('change')); }"
    page.evaluate(f"({choose})({boxes}[2])")
    assert page.evaluate(f"{boxes}[1].selectedOptions[0].textContent").startswith("gain of")
    assert page.evaluate(off)[1] == ["which is best"]
    page.evaluate(f"({choose.replace('3', '1')})({boxes}[2])")
    assert page.evaluate(off) == [[], [], [], []]
