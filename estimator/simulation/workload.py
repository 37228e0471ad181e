"""Forecast of the work of a run before it starts: packets and memory.

It uses the mean of drawn values, and senders that are limited only by windows, rates and transfer sizes;
losses and queues reduce the actual work.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from netcarlo.errors import InputError
from netcarlo.kernels.base.layout import Out, Trace
from netcarlo.networks.traffic import mean
from netcarlo.scenario import Scenario

MAX_PACKETS = 1e12
"""Maximum number of packets of a run without confirmation; about a day on one core."""

MAX_BYTES = 8 * 2**30
"""Maximum size of the tables of a run without confirmation [byte]."""

MAX_SCRATCH = 2**30
"""Maximum memory for packets in flight on all cores without confirmation [byte]."""

PACKETS_PER_S = 1e7
"""Approximate speed of one core [packets/s]."""

REMEDY = "shorten duration, lower rates or replications, or confirm with --yes (in Python: large=True)"

OUTCOME_COLUMNS = 160
"""Approximate number of columns in a table of outcomes."""

EVENTS_PER_PACKET = 4
"""Approximate number of trace events per packet."""


@dataclass(frozen=True)
class Forecast:
    """Approximate work of the replications of a scenario."""

    packets: float
    """Number of packets and of other steps that take as long: frames, datagrams, steps of a fluid,
    samples, legs of nodes."""
    bytes: float

    def __add__(self, other: "Forecast") -> "Forecast":
        return Forecast(self.packets + other.packets, self.bytes + other.bytes)


def forecast(scenario: Scenario, replications: int, *, traced: bool = False) -> Forecast:
    """Return the forecast for `replications` of a scenario, or for a trace of each."""
    packets = 0.0 if scenario.fidelity == "formula" else _packets(scenario) * replications
    each = EVENTS_PER_PACKET * len(Trace) * 8.0 * packets if traced else 0.0
    return Forecast(packets, 2 * 8.0 * (OUTCOME_COLUMNS + len(Out)) * replications + each)


def check(found: Iterable[Forecast], *, what: str = "this run") -> None:
    """Raise InputError if runs together are too large to start without confirmation."""
    total = sum(found, Forecast(0.0, 0.0))
    if total.packets > MAX_PACKETS:
        time = _long(total.packets / PACKETS_PER_S)
        raise InputError(
            f"{what} is about {total.packets:.1e} packets, {time} on one core; the limit without "
            "confirmation is "
            f"{MAX_PACKETS:.0e} packets; {REMEDY}"
        )
    if total.bytes > MAX_BYTES:
        raise InputError(
            f"{what} needs about {total.bytes / 2**30:.0f} GiB of memory; the limit without confirmation is "
            f"{MAX_BYTES / 2**30:.0f} GiB; {REMEDY}"
        )


def _packets(scenario: Scenario) -> float:
    """Return the approximate number of packets of one replication."""
    # A sample takes about a tenth of the time of a packet.
    samples = mean(scenario.duration) / mean(scenario.sample_interval) / 10
    return samples + scenario.network.packets(scenario, scenario.fidelity)


def _long(seconds: float) -> str:
    for one, unit in ((365.25 * 86400, "years"), (86400.0, "days"), (3600.0, "hours")):
        if seconds >= 2 * one:
            return f"{seconds / one:.3g} {unit}"
    return f"{seconds:.3g} s"
