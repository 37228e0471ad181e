"""Packets per second on one core of TCP through lossy 10 Mbit/s hops, compared with ns-2.

    python -m tests.campaigns newreno

Prints the table of docs/results/speed-paths.md.  Without ns-2
(`apt-get install ns2`), only netcarlo is measured.
"""

import functools
import math
import shutil
import time

from netcarlo.kernels import models
from netcarlo.kernels.base.layout import Out, Rows
from netcarlo.kernels.runtime import launch
from tests.campaigns import parser
from tests.campaigns.benchmarks import lossy_hop

WINDOWS = 16, 64, 256, 1024
LOSSES = 0.0001, 0.001, 0.01, 0.03
REPLICATIONS = 8
DURATION_S = 100.0
ROUNDS = 5
"""Number of rounds in which both are measured in turn. The best of each is reported, because other work on
the machine disturbs it least."""


OTHERS = {
    "NewReno, two hops": ("tcp_newreno", 2),
    "SACK": ("tcp_sack", 1),
    "CUBIC (ns-2: TCP/Linux)": ("tcp_sack_cubic", 1),
}
"""Model and number of hops, for a window of 64 packets."""


def kernel_rate(
    *,
    window: int,
    loss: float,
    duration_s: float = DURATION_S,
    repeats: int = 5,
    name: str = "tcp_newreno",
    count: int = 1,
) -> float:
    """Return the data packets sent per second of processor time, the best of some launches."""
    rows = lossy_hop.rows(REPLICATIONS, window=window, loss=loss, duration_s=duration_s, count=count)
    return max(rate(models.model(name), rows) for _ in range(repeats))


def rate(model: models.Model, rows: Rows) -> float:
    """Return the packets sent per second of processor time by one launch."""
    start = time.process_time()
    out = launch.run(model, rows, threads=1)
    return int(out[:, Out.SENT].sum()) / (time.process_time() - start)


def ns2_rate(
    *,
    window: int,
    loss: float,
    duration_s: float = 5 * DURATION_S,
    name: str = "tcp_newreno",
    count: int = 1,
) -> float:
    """Return the packets sent per second of processor time by one run of ns-2, without its start."""
    packets, seconds = lossy_hop.ns2(window=window, loss=loss, duration_s=duration_s, model=name, count=count)
    return packets / (seconds - ns2_start_s())


@functools.cache
def ns2_start_s() -> float:
    """Return the start-up time of ns-2 [s], the minimum of some runs."""
    return min(lossy_hop.ns2(window=16, loss=0.01, duration_s=0.001)[1] for _ in range(5))


def beside(*, window: int, loss: float, name: str = "tcp_newreno", count: int = 1) -> str:
    """Return both rates and their ratio as cells of a table."""
    ours = theirs = 0.0
    with_ns2 = shutil.which("ns") is not None
    for _ in range(ROUNDS):
        ours = max(ours, kernel_rate(window=window, loss=loss, name=name, count=count))
        if with_ns2:
            theirs = max(theirs, ns2_rate(window=window, loss=loss, name=name, count=count))
    return f"{ours / 1e6:.1f} | {theirs / 1e6:.2f} | {ours / theirs if theirs else math.nan:.0f} |"


def main() -> None:
    """Print the tables."""
    parser(__doc__).parse_args()
    print("| loss | window | netcarlo [M packets/s] | ns-2 [M packets/s] | ratio |")
    print("|---|---|---|---|---|")
    for loss in LOSSES:
        for window in WINDOWS:
            print(f"| {loss:g} | {window} | {beside(window=window, loss=loss)}", flush=True)
    print("\n| window 64 | loss | netcarlo [M packets/s] | ns-2 [M packets/s] | ratio |")
    print("|---|---|---|---|---|")
    for label, (name, count) in OTHERS.items():
        for loss in LOSSES:
            cells = beside(window=64, loss=loss, name=name, count=count)
            print(f"| {label} | {loss:g} | {cells}", flush=True)
