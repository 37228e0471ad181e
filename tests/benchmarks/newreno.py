"""Packets per second on one core, NewReno through a lossy 10 Mbit/s hop, beside ns-2 in the same run.

    python -m tests.benchmarks.newreno

prints the table of docs/performance.md.  ns-2 (`apt-get install ns2`) is left out where it is missing.
"""

import shutil
import time

from netcarlo.kernels import launch, models
from netcarlo.kernels.layout import Out
from tests.benchmarks import lossy_hop

WINDOWS = 16, 64, 256, 1024
LOSSES = 0.0001, 0.001, 0.01, 0.03
REPLICATIONS = 8
DURATION_S = 1000.0
REPEATS = 5


def kernel_rate(*, window: int, loss: float, duration_s: float = DURATION_S, repeats: int = REPEATS) -> float:
    """Data packets sent per second of processor time, the best of some repeats."""
    rows = lossy_hop.rows(REPLICATIONS, window=window, loss=loss, duration_s=duration_s)
    model = models.model("tcp_newreno")
    launch.run(model, rows, threads=1)
    best = 0.0
    for _ in range(repeats):
        start = time.process_time()
        out = launch.run(model, rows, threads=1)
        best = max(best, int(out[:, Out.SENT].sum()) / (time.process_time() - start))
    return best


def ns2_rate(*, window: int, loss: float, duration_s: float = DURATION_S, repeats: int = 2) -> float:
    """The same of ns-2, without the time it takes to start."""
    _, start_s = lossy_hop.ns2(window=window, loss=loss, duration_s=0.001)
    runs = [lossy_hop.ns2(window=window, loss=loss, duration_s=duration_s) for _ in range(repeats)]
    return max(packets / (seconds - start_s) for packets, seconds in runs)


def main() -> None:
    with_ns2 = shutil.which("ns") is not None
    print("| loss | window | netcarlo [M packets/s] | ns-2 [M packets/s] | ratio |")
    print("|---|---|---|---|---|")
    for loss in LOSSES:
        for window in WINDOWS:
            ours = kernel_rate(window=window, loss=loss)
            theirs = ns2_rate(window=window, loss=loss) if with_ns2 else float("nan")
            print(
                f"| {loss:g} | {window} | {ours / 1e6:.1f} | {theirs / 1e6:.2f} | {ours / theirs:.0f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
