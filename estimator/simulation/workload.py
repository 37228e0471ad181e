"""What a run will ask for, forecast before it starts: packets, and memory.

The forecast takes the mean of what is drawn, and senders that are limited by nothing but windows, rates and
the lengths of transfers; loss and queues make it less.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from netcarlo.errors import InputError
from netcarlo.kernels.base.layout import Out, Trace
from netcarlo.networks.traffic import mean
from netcarlo.scenario import Scenario

MAX_PACKETS = 1e12
"""Of a run that nobody has confirmed: a day of one core."""

MAX_BYTES = 8 * 2**30
"""Memory of the tables of such a run,"""

MAX_SCRATCH = 2**30
"""and of its packets in flight, on all cores."""

PACKETS_PER_S = 1e7
"""What a core simulates, about."""

REMEDY = "shorten duration, lower rates or replications, or confirm it with --yes (in Python: large=True)"

OUTCOME_COLUMNS = 160
"""Columns of a table of outcomes, about."""

EVENTS_PER_PACKET = 4
"""Events of a packet in a trace, about."""

@dataclass(frozen=True)
class Forecast:
    """What replications of a scenario ask for, about."""

    packets: float
    """And what takes as long: frames, datagrams of others, steps of a fluid, samples, legs of nodes."""
    bytes: float

    def __add__(self, other: "Forecast") -> "Forecast":
        return Forecast(self.packets + other.packets, self.bytes + other.bytes)


def forecast(scenario: Scenario, replications: int, *, traced: bool = False) -> Forecast:
    """The forecast of `replications` of a scenario, or of a trace of each."""
    packets = 0.0 if scenario.fidelity == "formula" else _packets(scenario) * replications
    each = EVENTS_PER_PACKET * len(Trace) * 8.0 * packets if traced else 0.0
    return Forecast(packets, 2 * 8.0 * (OUTCOME_COLUMNS + len(Out)) * replications + each)


def check(found: Iterable[Forecast], *, what: str = "this run") -> None:
    """Raises InputError where runs together are too large to be started unasked."""
    total = sum(found, Forecast(0.0, 0.0))
    if total.packets > MAX_PACKETS:
        time = _long(total.packets / PACKETS_PER_S)
        raise InputError(
            f"{what} is about {total.packets:.1e} packets, {time} of one core; allowed unasked is "
            f"{MAX_PACKETS:.0e} packets; {REMEDY}"
        )
    if total.bytes > MAX_BYTES:
        raise InputError(
            f"{what} needs about {total.bytes / 2**30:.0f} GiB of memory; allowed unasked is "
            f"{MAX_BYTES / 2**30:.0f} GiB; {REMEDY}"
        )


def _packets(scenario: Scenario) -> float:
    """Of one replication."""
    samples = mean(scenario.duration) / mean(scenario.sample_interval) / 10  # far less work than a packet
    return samples + scenario.network.packets(scenario, scenario.fidelity)


def _long(seconds: float) -> str:
    for one, unit in ((365.25 * 86400, "years"), (86400.0, "days"), (3600.0, "hours")):
        if seconds >= 2 * one:
            return f"{seconds / one:.3g} {unit}"
    return f"{seconds:.3g} s"
