"""What numbers in the layout of tables 1 and 2 say about the claims of the study of TCP over IP mobility.

Each finding is made from our numbers and from the paper's own.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from netcarlo.cells import Samples
from netcarlo.statistics import mean

PROTOCOLS = {"hmipv6": "HMIPv6", "fmipv6": "FMIPv6", "himipv6": "HIMIPv6"}
TCPS = {"tahoe": "Tahoe", "reno": "Reno", "vegas": "Vegas"}
RATES = (0.0, 0.01, 0.02, 0.05)

Numbers = Callable[[str, str, str, float], Samples]
"""(metric, protocol, tcp, error rate) -> values, one per replication, or the one published value."""


@dataclass(frozen=True)
class Finding:
    """What a set of numbers says about a claim."""

    held: bool
    quantity: str
    unit: str
    samples: Samples
    evidence: str


Difference = tuple[str, Samples]
"""What is compared, and by how much (positive where the claim holds)."""


def percent(rate: float) -> str:
    """An error rate in words."""
    return f"{rate * 100:g} %"


def all_positive(differences: Sequence[Difference], *, quantity: str, unit: str = "kbit/s") -> Finding:
    """Held if every difference is positive in the mean; the smallest is shown."""
    found = [(name, samples, mean(samples)) for name, samples in differences]
    name, samples, _ = min(found, key=lambda item: item[2].mean)
    against = [f"{name} ({m.mean:+.2f})" for name, _, m in found if m.mean <= 0]
    sure = sum(m.ci_low > 0 for *_, m in found)
    beyond = f", {sure} beyond the 95 % interval" if len(samples) > 1 else ""
    return Finding(
        held=not against,
        quantity=f"{quantity}, smallest: {name}",
        unit=unit,
        samples=samples,
        evidence=f"{len(found) - len(against)} of {len(found)}{beyond}"
        + (f"; not {', '.join(against)}" if against else ""),
    )


def coincide(numbers: Numbers) -> Finding:
    """C4: Tahoe and Reno differ by less than half a percent without errors."""
    found = {}
    for protocol, name in PROTOCOLS.items():
        tahoe, reno = (numbers("goodput_kbps", protocol, tcp, 0.0) for tcp in ("tahoe", "reno"))
        found[name] = abs(reno / tahoe - 1) * 100
    largest = max(found.values(), key=lambda samples: float(samples.mean()))
    return Finding(
        held=bool(largest.mean() < 0.5),
        quantity="largest difference of Reno from Tahoe over the protocols",
        unit="%",
        samples=largest,
        evidence=", ".join(f"{name} {samples.mean():.2f} %" for name, samples in found.items())
        + " apart (0.5 % counts as equal)",
    )


def hmipv6_vegas_last(numbers: Numbers) -> Finding:
    """C5 in the tables: without errors Vegas is last over HMIPv6."""
    vegas = numbers("goodput_kbps", "hmipv6", "vegas", 0.0)
    ahead = [(TCPS[tcp], numbers("goodput_kbps", "hmipv6", tcp, 0.0) - vegas) for tcp in ("tahoe", "reno")]
    return all_positive(ahead, quantity="ahead of Vegas over HMIPv6 at 0 %")


def hmipv6_vegas_first(numbers: Numbers) -> Finding:
    """C6: with errors Vegas is first over HMIPv6."""
    return all_positive(
        [
            (
                f"{TCPS[tcp]}, {percent(rate)}",
                numbers("goodput_kbps", "hmipv6", "vegas", rate)
                - numbers("goodput_kbps", "hmipv6", tcp, rate),
            )
            for rate in RATES[1:]
            for tcp in ("tahoe", "reno")
        ],
        quantity="Vegas ahead over HMIPv6",
    )


def reno_above_tahoe(numbers: Numbers) -> Finding:
    """C7: with errors Reno is above Tahoe."""
    return all_positive(
        [
            (
                f"{name}, {percent(rate)}",
                numbers("goodput_kbps", protocol, "reno", rate)
                - numbers("goodput_kbps", protocol, "tahoe", rate),
            )
            for protocol, name in PROTOCOLS.items()
            for rate in RATES[1:]
        ],
        quantity="Reno ahead of Tahoe",
    )


def fmipv6_gap(numbers: Numbers, tcp: str, rate: float) -> Samples:
    """By how much a TCP is ahead of Vegas over FMIPv6 [kbit/s]."""
    return numbers("goodput_kbps", "fmipv6", tcp, rate) - numbers("goodput_kbps", "fmipv6", "vegas", rate)


def fmipv6_vegas_far_below(numbers: Numbers) -> Finding:
    """C8 in the tables: at 0 and 1 % Vegas is last over FMIPv6."""
    found = all_positive(
        [
            (f"{TCPS[tcp]}, {percent(rate)}", fmipv6_gap(numbers, tcp, rate))
            for rate in RATES[:2]
            for tcp in ("tahoe", "reno")
        ],
        quantity="ahead of Vegas over FMIPv6",
    )
    later = ", ".join(
        f"{TCPS[tcp]} at {percent(rate)} {fmipv6_gap(numbers, tcp, rate).mean():+.0f}"
        for rate in RATES[2:]
        for tcp in ("tahoe", "reno")
    )
    return Finding(
        found.held,
        found.quantity,
        found.unit,
        found.samples,
        f"{found.evidence}; with more errors, not judged: {later} kbit/s",
    )


def fmipv6_gap_shrinks(numbers: Numbers) -> Finding:
    """C9: that gap shrinks with the error rate."""
    return all_positive(
        [
            (
                f"{TCPS[tcp]}, {percent(low)} to {percent(high)}",
                fmipv6_gap(numbers, tcp, low) - fmipv6_gap(numbers, tcp, high),
            )
            for tcp in ("tahoe", "reno")
            for low, high in pairwise(RATES)
        ],
        quantity="the gap shrinks",
    )


def himipv6_vegas_best(numbers: Numbers) -> Finding:
    """C10 in the tables: Vegas over HIMIPv6 is the best cell for each error rate."""
    return all_positive(
        [
            (
                f"{name} {TCPS[tcp]}, {percent(rate)}",
                numbers("goodput_kbps", "himipv6", "vegas", rate)
                - numbers("goodput_kbps", protocol, tcp, rate),
            )
            for rate in RATES
            for protocol, name in PROTOCOLS.items()
            for tcp in TCPS
            if (protocol, tcp) != ("himipv6", "vegas")
        ],
        quantity="HIMIPv6 Vegas ahead",
    )


def lead(numbers: Numbers, metric: str, protocol: str, tcp: str, rate: float) -> Samples:
    """By how much HIMIPv6 is above another protocol."""
    return numbers(metric, "himipv6", tcp, rate) - numbers(metric, protocol, tcp, rate)


def others() -> Iterator[tuple[str, str, str, float]]:
    """Name and address of each cell with another protocol than HIMIPv6."""
    for protocol in ("hmipv6", "fmipv6"):
        for tcp in TCPS:
            for rate in RATES:
                yield f"{PROTOCOLS[protocol]} {TCPS[tcp]}, {percent(rate)}", protocol, tcp, rate


def himipv6_highest(numbers: Numbers) -> Finding:
    """C11: HIMIPv6 delivers most for each TCP and error rate."""
    return all_positive(
        [(name, lead(numbers, "goodput_kbps", p, t, rate)) for name, p, t, rate in others()],
        quantity="HIMIPv6 ahead",
    )


def lead_shrinks(numbers: Numbers) -> Finding:
    """C12: the differences between the protocols shrink with the error rate."""
    return all_positive(
        [
            (
                f"{PROTOCOLS[protocol]} {TCPS[tcp]}, {percent(low)} to {percent(high)}",
                lead(numbers, "goodput_kbps", protocol, tcp, low)
                - lead(numbers, "goodput_kbps", protocol, tcp, high),
            )
            for protocol in ("hmipv6", "fmipv6")
            for tcp in TCPS
            for low, high in pairwise(RATES)
        ],
        quantity="the lead of HIMIPv6 shrinks",
    )


def overhead_levels(numbers: Numbers) -> Finding:
    """C13: the overhead is about 1.6 % or 0.2 % without errors, grows with them, and reaches 6.5 %."""

    def row(protocol: str, rate: float) -> Samples:
        return np.asarray(np.mean([numbers("ror_percent", protocol, tcp, rate) for tcp in TCPS], axis=0))

    first, last = row("hmipv6", 0.0), row("hmipv6", 0.05)
    quiet = [row(protocol, 0.0).mean() for protocol in ("fmipv6", "himipv6")]
    grows = all_positive(
        [
            (
                f"{PROTOCOLS[p]} {TCPS[t]}, {percent(low)} to {percent(high)}",
                numbers("ror_percent", p, t, high) - numbers("ror_percent", p, t, low),
            )
            for p in PROTOCOLS
            for t in TCPS
            for low, high in pairwise(RATES)
        ],
        quantity="",
    )
    levels = abs(first.mean() - 1.6) < 0.3 and max(quiet) < 0.4 and abs(last.mean() - 6.5) < 0.5
    return Finding(
        held=bool(levels and grows.held),
        quantity="overhead over HMIPv6 at 0 %, mean of the TCPs",
        unit="%",
        samples=first,
        evidence=f"{first.mean():.2f} % (others {quiet[0]:.2f} and {quiet[1]:.2f} %) without errors, "
        f"{last.mean():.2f} % at 5 %; grows in {grows.evidence}",
    )


def hmipv6_most_overhead(numbers: Numbers) -> Finding:
    """C14: the overhead of HMIPv6 is the largest everywhere."""
    return all_positive(
        [
            (
                f"{PROTOCOLS[protocol]} {TCPS[tcp]}, {percent(rate)}",
                numbers("ror_percent", "hmipv6", tcp, rate) - numbers("ror_percent", protocol, tcp, rate),
            )
            for protocol in ("fmipv6", "himipv6")
            for tcp in TCPS
            for rate in RATES
        ],
        quantity="HMIPv6 above",
        unit="percentage points",
    )


def himipv6_least_overhead(numbers: Numbers) -> Finding:
    """C15: the overhead of HIMIPv6 is the smallest everywhere."""
    return all_positive(
        [(name, -lead(numbers, "ror_percent", p, t, rate)) for name, p, t, rate in others()],
        quantity="HIMIPv6 below",
        unit="percentage points",
    )
