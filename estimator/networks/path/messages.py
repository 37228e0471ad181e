"""What came of an application that writes messages: how many arrived, and how long they took."""

import numpy as np

from netcarlo.kernels.base.layout import NS, Messages, P, Rows
from netcarlo.kernels.linux.messages import TIME_SHIFT
from netcarlo.networks.outcome import FRACTION, LESS, MORE, NEITHER, SHARE, Outcome
from netcarlo.numerics.arrays import Floats, Ints, divisors
from netcarlo.numerics.histogram import quantiles

QUANTILES = {"p50": 0.5, "p95": 0.95, "p99": 0.99}

_TIME = "time from the writing of a message to the arrival of its last missing packet"

OUTCOMES = (
    Outcome("messages", MORE, "messages of an application that arrived in full", label="messages completed"),
    Outcome("message_mean_s", LESS, f"mean {_TIME}", label="mean time of messages"),
    *(
        Outcome(
            f"message_{name}_s", LESS, f"{100 * q:.0f} % quantile of the {_TIME}, to 1.6 % of it",
            label=f"{name} of times of messages",
        )
        for name, q in QUANTILES.items()
    ),
    Outcome(
        "idle_share", NEITHER, "share of the time in which an application waits, all acknowledged, between "
        "messages", SHARE, label="idle time", unit=FRACTION,
    ),
)  # fmt: skip


def short(integers: Ints, rows: Rows) -> Ints:
    """Bytes [n] that the last packets of messages that arrived lack of whole ones."""
    if not (rows.parameters[:, P.MESSAGES] > 0).any():
        return np.zeros(len(integers), np.int64)
    return integers[:, Messages.SHORT - Messages.COLUMNS]


def named(integers: Ints, rows: Rows) -> dict[str, Ints | Floats]:
    """The outcomes of rows [n] by name, [n] each; without messages there are none."""
    p = rows.parameters
    if not (p[:, P.MESSAGES] > 0).any():
        return {}
    out = integers[:, -Messages.COLUMNS :]
    completed = out[:, Messages.COMPLETED]
    found: dict[str, Ints | Floats] = {
        "messages": completed,
        "message_mean_s": out[:, Messages.TIME] / divisors(completed) / NS,
        "idle_share": out[:, Messages.IDLE] / (p[:, P.END] - p[:, P.START]),
    }
    for name, q in QUANTILES.items():
        found[f"message_{name}_s"] = quantiles(out[:, Messages.TIMES :], q) * 2.0**TIME_SHIFT / NS
    return found
