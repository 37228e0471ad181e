"""Growth of cost with losses, windows, hops, flows, nodes and networks (docs/results/scaling.md).

    python -m tests.campaigns growth [MOST] [--picture FILE]

Prints packets per second on one core as a function of losses, windows, hops, flows and nodes, and time and
memory of a sweep as a function of its networks, up to MOST networks (10^7 by default). Draws
docs/results/growth.svg (with Chromium), or FILE.
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from plotly.offline import get_plotlyjs

from netcarlo.kernels import models
from netcarlo.reports.parts.figures import AXIS, COLOURS, DASHES, INK, SYMBOLS, Plot
from netcarlo.scenario import Scenario
from netcarlo.simulation.ensemble import build
from tests.campaigns import parser
from tests.campaigns.benchmarks import manet, newreno, shared
from tests.reports.browser import browser

PICTURE = Path(__file__).parents[3] / "docs" / "results" / "growth.svg"
MOST = 10_000_000
TURNS = 3
"""Number of runs of each sweep of up to 10^5 networks; the median is reported."""
SENDERS = {"NewReno": "tcp_newreno", "SACK": "tcp_sack", "CUBIC": "tcp_sack_cubic"}
LINKS = {"NewReno": "shared_newreno", "SACK": "shared_sack"}

SWEEP = Path(__file__).parents[3] / "configs" / "random_topologies.yaml"
FIXED = "axes.loss=[0.1 %]", "scenario.duration=1 s", "draw.blocks=5"
NETWORKS = 100
"""Networks per drawn topology: five TCPs with twenty replications each."""


class Panel(NamedTuple):
    """Picture of some curves over the same values."""

    x: str
    y: str
    values: Sequence[float]
    curves: dict[str, list[float]]


def rates(x: str, values: Sequence[float], senders: dict[str, str], rate: Callable[..., float]) -> Panel:
    """Return the speed by sender [million packets/s], given `rate(model, value)` [packets/s]."""
    curves = {sender: [rate(name, value) / 1e6 for value in values] for sender, name in senders.items()}
    return Panel(x, "M packets/s, one core", values, curves)


def dumbbell(flows: int) -> Scenario:
    """Return flows over a link with 1 Mbit/s and a queue of 12 packets per flow."""
    return Scenario.check({
        "duration": "20 s", "sample_interval": "1 s",
        "transport": {"protocol": "newreno", "window": 64, "start": {"uniform": ["0 s", "0.1 s"]}},
        "shared": {
            "dumbbell": {"rate": f"{flows} Mbit/s", "delay": "20 ms", "queue": 12 * flows},
            "flows": [{"count": flows, "each": {"access": {"source_delay": {"uniform": ["1 ms", "20 ms"]}}}}],
        },
    })  # fmt: skip


def over_links(name: str, flows: float) -> float:
    """Return the data packets per second of processor time when `flows` flows share a link."""
    rows = build(dumbbell(int(flows)), replications=8).rows
    return shared.kernel_rates(rows, models.model(name))[0]


def ad_hoc(name: str, nodes: float) -> float:
    """Return the frames per second of processor time of `nodes` nodes that move in a square of 400 m."""
    scenario = manet.network(range_m=150, speed_mps=10, frame_error=0.0, nodes=int(nodes))
    return manet.measure(scenario).frames


def swept(networks: int) -> tuple[float, float, float]:
    """Return the cost of a sweep over `networks` networks of one second on all cores.

    The result contains elapsed seconds, processor seconds and the peak memory of the process [MiB].
    """
    turns = []
    for _ in range(TURNS if networks <= 100_000 else 1):
        with tempfile.TemporaryDirectory() as folder:
            settings = (*FIXED, f"draw.count={networks // NETWORKS}")
            options = [option for setting in settings for option in ("--set", setting)]
            main = "from netcarlo.cli.main import main; main()"
            began = time.perf_counter()
            process = subprocess.Popen(
                [sys.executable, "-c", main, "sweep", SWEEP, "--out", f"{folder}/store", "--quiet", *options],
                stdout=subprocess.DEVNULL,
            )
            _, status, used = os.wait4(process.pid, 0)
            process.returncode = status
            assert status == 0
            wall = time.perf_counter() - began
        turns.append((wall, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024))
    wall, spent, memory = (statistics.median(column) for column in zip(*turns, strict=True))
    return wall, spent, memory


def measured(most: int) -> Iterator[Panel]:
    """Measure and yield all panels."""

    def path(**fixed: Any) -> Callable[[str, dict[str, Any]], float]:
        return lambda name, varied: newreno.kernel_rate(name=name, **{**fixed, **varied})

    by_loss, by_window, by_hops = path(window=64), path(loss=0.001), path(window=64, loss=0.001)
    losses, one = (0.001, 0.01, 0.1, 1, 3, 10), {"NewReno (frames)": "manet_newreno"}
    yield rates("loss [%]", losses, SENDERS, lambda n, x: by_loss(n, {"loss": x / 100}))
    yield rates("window [packets]", (4, 16, 64, 256, 1024), SENDERS, lambda n, x: by_window(n, {"window": x}))
    yield rates("hops, 0.1 % of loss each", (1, 2, 4, 8, 16), SENDERS, lambda n, x: by_hops(n, {"count": x}))
    yield rates("flows that share a cable", (1, 4, 16, 32, 64), LINKS, over_links)
    yield rates("nodes of an ad hoc network", (5, 10, 20, 40, 64), one, ad_hoc)
    counts = [10**k for k in range(3, 9) if 10**k <= most]
    swept(counts[0])  # compiles
    wall, used, memory = zip(*(swept(count) for count in counts), strict=True)
    times = {"time": [*wall], "processor time": [*used]}
    yield Panel("networks of one second", "s, all cores", counts, times)
    yield Panel("networks of one second", "MiB at most", counts, {"memory": [*memory]})


def table(panel: Panel) -> str:
    """Return the numbers of a panel as a Markdown table."""
    lines = [f"| {panel.x} | " + " | ".join(f"{value:g}" for value in panel.values) + " |"]
    lines.append("|---|" + "---|" * len(panel.values))
    lines += [
        f"| {name} [{panel.y}] | " + " | ".join(f"{value:.3g}" for value in found) + " |"
        for name, found in panel.curves.items()
    ]
    return "\n".join(lines)


def figure(panels: Sequence[Panel], *, columns: int = 4, side: int = 290) -> Plot:
    """Return a figure with the panels in rows of `columns`; the names of the curves are above each panel."""
    rows = -(-len(panels) // columns)
    data: list[Plot] = []
    layout: Plot = {
        "width": columns * side + 60, "height": rows * side, "showlegend": False, "annotations": [],
        "font": {"family": "sans-serif", "size": 12, "color": INK}, "paper_bgcolor": "#ffffff",
        "plot_bgcolor": "#ffffff", "margin": {"l": 60, "r": 0, "t": 30, "b": 0},
    }  # fmt: skip
    for k, panel in enumerate(panels):
        row, column = divmod(k, columns)
        number = "" if k == 0 else str(k + 1)
        left, top = column / columns, 1 - row / rows
        x_ends, y_ends = [left, left + 0.78 / columns], [top - 0.74 / rows, top]
        layout[f"xaxis{number}"] = {
            **AXIS, "type": "log", "automargin": False, "domain": x_ends, "anchor": f"y{number}",
            "tickangle": 0, "tickvals": [*panel.values],
            "ticktext": [f"{x:g}".replace("e+0", "e") for x in panel.values],
            "title": {"text": panel.x, "standoff": 6},
        }  # fmt: skip
        found = [value for curve in panel.curves.values() for value in curve]
        grows = panel.values[-1] > 1000 * panel.values[0] and max(found) > 10 * min(found)
        scale = {"type": "log", "dtick": "D2"} if grows else {"rangemode": "tozero"}
        layout[f"yaxis{number}"] = {
            **AXIS, **scale, "automargin": False, "domain": y_ends, "anchor": f"x{number}",
            "title": {"text": panel.y, "standoff": 4},
        }  # fmt: skip
        for place, (name, curve) in enumerate(panel.curves.items()):
            line = {"color": COLOURS[place], "dash": DASHES[place], "width": 2}
            marker = {"symbol": SYMBOLS[place], "size": 7, "color": COLOURS[place]}
            data.append({
                "x": [*panel.values], "y": curve, "name": name, "mode": "lines+markers", "line": line,
                "marker": marker, "xaxis": f"x{number}", "yaxis": f"y{number}",
            })  # fmt: skip
        names = (
            f'<span style="color:{COLOURS[place]}">{"●■◆"[place]} {name}</span>'
            for place, name in enumerate(panel.curves)
        )
        layout["annotations"].append({
            "text": "  ".join(names), "xref": "paper", "yref": "paper", "x": x_ends[0], "y": top,
            "xanchor": "left", "yanchor": "bottom", "showarrow": False,
        })  # fmt: skip
    return {"data": data, "layout": layout}


def draw(plot: Plot, file: Path) -> None:
    """Write a figure as SVG."""
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "page.html"
        page.write_text(
            f"<meta charset=utf-8><div id=here></div><script>{get_plotlyjs()}</script><script>"
            f"Plotly.toImage({json.dumps(plot)}, {{format: 'svg'}}).then(url => window.made = url)</script>"
        )
        with browser(Path(folder) / "profile") as opened:
            opened.open(page, width=1200, height=900)
            while not (made := opened.evaluate("window.made && decodeURIComponent(window.made)")):
                pass
    file.write_text(str(made).partition(",")[2] + "\n")


def main() -> None:
    """Print the tables, draw the picture."""
    arguments = parser(__doc__)
    arguments.add_argument("most", nargs="?", type=float, default=MOST, metavar="MOST")
    arguments.add_argument("--picture", type=Path, default=PICTURE, metavar="FILE")
    given = arguments.parse_args()
    panels = []
    for panel in measured(int(given.most)):
        print(table(panel) + "\n", flush=True)
        panels.append(panel)
    draw(figure(panels), given.picture)
