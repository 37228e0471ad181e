"""Outcomes of an application that sends messages: number of messages delivered, and their times."""

from functools import partial

from netcarlo.kernels.base.layout import NS, Messages
from netcarlo.kernels.base.parameters import RowP
from netcarlo.kernels.linux.messages import TIME_SHIFT
from netcarlo.networks.outcome import LESS, MORE, NEITHER, SHARE, Otherwise, Outcome
from netcarlo.networks.path.output import PathOutput
from netcarlo.numerics.arrays import Floats, divisors
from netcarlo.numerics.histogram import quantiles
from netcarlo.schema.readable import FRACTION

QUANTILES = {"p50": 0.5, "p95": 0.95, "p99": 0.99}

_TIME = "time from the writing of a message to the arrival of its last missing packet"


def _quantile(out: PathOutput, q: float) -> Floats:
    return quantiles(out.table(Messages)[:, 0, Messages.TIMES :], q) * 2.0**TIME_SHIFT / NS


_OUTCOMES = (
    Outcome(
        "messages", Messages.COMPLETED, MORE, "messages of an application that arrived in full",
        label="messages completed",
    ),
    Outcome(
        "message_mean_s", lambda out: out[Messages.TIME] / divisors(out[Messages.COMPLETED]) / NS, LESS,
        f"mean {_TIME}", label="mean time of messages",
    ),
    *(
        Outcome(
            f"message_{name}_s", partial(_quantile, q=q), LESS,
            f"{100 * q:.0f} % quantile of the {_TIME}, to 1.6 % of it", label=f"{name} of times of messages",
        )
        for name, q in QUANTILES.items()
    ),
    Outcome(
        "idle_share", lambda out: out[Messages.IDLE] / (out.p[:, RowP.END] - out.p[:, RowP.START]), NEITHER,
        "share of the time in which the application is idle between messages, all data acknowledged", SHARE,
        label="idle time", unit=FRACTION,
    ),
)  # fmt: skip

OUTCOMES = tuple(
    each._replace(when=PathOutput.writes_messages, otherwise=Otherwise.ABSENT) for each in _OUTCOMES
)
"""Outcomes of scenarios in which the application sends messages."""
