"""Packets per second on one core of NewReno and of current Linux, through one lossy 10 Mbit/s hop.

    python -m tests.campaigns linux

Prints a table of docs/results/speed-linux.md.  All have a window of 64 packets and packets of 1,040 bytes.
Other parameters are the defaults: those of ns-2 for NewReno, and delayed ACKs (one for two packets) for
Linux.
"""

from netcarlo.kernels import models
from netcarlo.kernels.base.layout import Rows
from netcarlo.scenario import Scenario
from netcarlo.simulation.ensemble import build
from tests.campaigns import parser
from tests.campaigns.benchmarks import lossy_hop
from tests.campaigns.benchmarks.newreno import DURATION_S, LOSSES, REPLICATIONS, rate
from tests.campaigns.benchmarks.versions import hop

WINDOW = 64
CONTROLS = "reno", "cubic", "bbr", "bbr3"
ROUNDS = 20
"""Number of rounds in which all are measured in turn. The best of each is reported, because other work on the
machine disturbs it least."""


def linux_rows(control: str, *, loss: float, duration_s: float = DURATION_S) -> Rows:
    """Return rows of current Linux with a congestion control through the hop of `lossy_hop`."""
    data = hop("linux", f"{100 * loss:g} %")
    sizes = {"payload": f"{lossy_hop.DATA} B", "header": f"{lossy_hop.HEADER} B", "ack": "40 B"}
    data["transport"] |= {"congestion_control": control, "window": WINDOW, **sizes}  # type: ignore[operator]
    scenario = Scenario.check({**data, "duration": f"{duration_s:g} s"})
    rows: Rows = build(scenario, replications=REPLICATIONS).rows  # type: ignore[assignment]
    return rows


def rates(loss: float, rounds: int = ROUNDS) -> dict[str, float]:
    """Return the data packets sent per second of processor time, by model."""
    rows = {f"tcp_linux_{control}": linux_rows(control, loss=loss) for control in CONTROLS}
    rows["tcp_newreno"] = lossy_hop.rows(REPLICATIONS, window=WINDOW, loss=loss, duration_s=DURATION_S)
    best = dict.fromkeys(rows, 0.0)
    for _ in range(rounds):
        for name in rows:
            best[name] = max(best[name], rate(models.model(name), rows[name]))
    return best


def main() -> None:
    """Print the table."""
    parser(__doc__).parse_args()
    print("| loss [%] | NewReno [M packets/s] | " + " | ".join(CONTROLS) + " | share of NewReno's [%] |")
    print("|---" * (3 + len(CONTROLS)) + "|")
    for loss in LOSSES:
        found = rates(loss)
        ours = [found[f"tcp_linux_{control}"] for control in CONTROLS]
        shares = ", ".join(f"{100 * one / found['tcp_newreno']:.0f}" for one in ours)
        speeds = [f"{one / 1e6:.1f}" for one in (found["tcp_newreno"], *ours)]
        print(f"| {100 * loss:g} | {' | '.join(speeds)} | {shares} |", flush=True)
