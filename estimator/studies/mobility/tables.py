"""Findings on the claims of the study of TCP over IP mobility, from numbers in the layout of tables 1 and 2.

Each finding is computed from the simulated numbers and from those of the paper.
"""

from collections.abc import Callable, Iterable
from dataclasses import replace
from itertools import pairwise

import numpy as np

from netcarlo.studies.cells import Samples, estimate
from netcarlo.studies.claims import every, inside, positive
from netcarlo.studies.judging import Finding, Lookup

PROTOCOLS = {"hmipv6": "HMIPv6", "fmipv6": "FMIPv6", "himipv6": "HIMIPv6"}
TCPS = {"tahoe": "Tahoe", "reno": "Reno", "vegas": "Vegas"}
WITH_RECOVERY = ("tahoe", "reno")
RATES = (0.0, 0.01, 0.02, 0.05)

Address = tuple[str, str, float]
"""Address of a cell: protocol, TCP and error rate."""

Numbers = Callable[[str, Address], Samples]
"""Function (metric, cell) -> values, one per replication, or the published value."""


def by_address(value: Lookup) -> Numbers:
    """Return a lookup by the address of a cell from a lookup by conditions."""
    return lambda metric, cell: value(metric, protocol=cell[0], tcp=cell[1], error_rate=cell[2])


def at(rate: float) -> str:
    """Return an error rate as text."""
    return f"{rate * 100:g} %"


def say(cell: Address) -> str:
    """Return a cell as text."""
    return f"{PROTOCOLS[cell[0]]} {TCPS[cell[1]]}, {at(cell[2])}"


def all_positive(
    differences: Iterable[tuple[str, Samples]], *, quantity: str, unit: str = "kbit/s"
) -> Finding:
    """Return the finding that every difference is positive; its quantity is the smallest difference."""
    found = [(name, samples, estimate(samples)) for name, samples in differences]
    name, samples, _ = min(found, key=lambda item: item[2].mean)
    verdicts = [positive(m) for *_, m in found]
    parts = [f"{verdicts.count('held')} of {len(found)}"]
    for kind, words in (("not held", "not"), ("undecided", "undecided")):
        of_kind = (item for item, v in zip(found, verdicts, strict=True) if v == kind)
        if those := [f"{name} ({m.mean:+.2f})" for name, _, m in of_kind]:
            parts.append(f"{words} {', '.join(those)}")
    return Finding(
        verdict=every(verdicts),
        quantity=f"{quantity}, smallest: {name}",
        unit=unit,
        samples=samples,
        evidence="; ".join(parts),
    )


def lead(numbers: Numbers, metric: str, cell: Address, other: Address) -> Samples:
    """Return the difference of a metric between two cells."""
    return numbers(metric, cell) - numbers(metric, other)


def hmipv6_vegas_last(numbers: Numbers) -> Finding:
    """Return the finding on claim C5: without errors Vegas is last over HMIPv6."""
    vegas = ("hmipv6", "vegas", 0.0)
    others: list[Address] = [("hmipv6", tcp, 0.0) for tcp in WITH_RECOVERY]
    return all_positive(
        [(say(cell), lead(numbers, "goodput_kbps", cell, vegas)) for cell in others],
        quantity="ahead of Vegas",
    )


def fmipv6_gap(numbers: Numbers, tcp: str, rate: float) -> Samples:
    """Return by how much a TCP is ahead of Vegas over FMIPv6 [kbit/s]."""
    return lead(numbers, "goodput_kbps", ("fmipv6", tcp, rate), ("fmipv6", "vegas", rate))


def fmipv6_vegas_far_below(numbers: Numbers) -> Finding:
    """Return the finding on claim C8: with errors of 0 and 1 % Vegas is last over FMIPv6."""
    found = all_positive(
        [
            (f"{TCPS[tcp]}, {at(rate)}", fmipv6_gap(numbers, tcp, rate))
            for rate in RATES[:2]
            for tcp in WITH_RECOVERY
        ],
        quantity="ahead of Vegas over FMIPv6",
    )
    later = ", ".join(
        f"{TCPS[tcp]} at {at(rate)} {fmipv6_gap(numbers, tcp, rate).mean():+.0f}"
        for rate in RATES[2:]
        for tcp in WITH_RECOVERY
    )
    return replace(found, evidence=f"{found.evidence}; with more errors (no verdict): {later} kbit/s")


def fmipv6_gap_shrinks(numbers: Numbers) -> Finding:
    """Return the finding on claim C9: the gap over FMIPv6 shrinks with the error rate."""
    return all_positive(
        [
            (
                f"{TCPS[tcp]}, {at(low)} to {at(high)}",
                fmipv6_gap(numbers, tcp, low) - fmipv6_gap(numbers, tcp, high),
            )
            for tcp in WITH_RECOVERY
            for low, high in pairwise(RATES)
        ],
        quantity="the gap shrinks",
    )


def himipv6_vegas_best(numbers: Numbers) -> Finding:
    """Return the finding on claim C10: Vegas over HIMIPv6 is the best cell for each error rate."""
    cells: list[Address] = [(p, t, rate) for rate in RATES for p in PROTOCOLS for t in TCPS]
    return all_positive(
        [
            (say(cell), lead(numbers, "goodput_kbps", ("himipv6", "vegas", cell[2]), cell))
            for cell in cells
            if cell[:2] != ("himipv6", "vegas")
        ],
        quantity="HIMIPv6 Vegas ahead",
    )


def others() -> list[Address]:
    """Return the cells of the other protocols than HIMIPv6."""
    return [(p, t, rate) for p in ("hmipv6", "fmipv6") for t in TCPS for rate in RATES]


def himipv6_lead(numbers: Numbers, metric: str, cell: Address) -> Samples:
    """Return by how much HIMIPv6 is above another protocol."""
    return lead(numbers, metric, ("himipv6", *cell[1:]), cell)


def lead_shrinks(numbers: Numbers) -> Finding:
    """Return the finding on claim C12: the differences between the protocols shrink with the error rate."""
    return all_positive(
        [
            (
                f"{say(cell)} to {at(high[2])}",
                himipv6_lead(numbers, "goodput_kbps", cell) - himipv6_lead(numbers, "goodput_kbps", high),
            )
            for cell, high in pairwise(others())
            if cell[:2] == high[:2]
        ],
        quantity="the lead of HIMIPv6 shrinks",
    )


def overhead_levels(numbers: Numbers) -> Finding:
    """Return the finding on claim C13: levels of the overhead without errors and at 5 %, and its growth."""

    def row(protocol: str, rate: float) -> Samples:
        return np.asarray(np.mean([numbers("ror_percent", (protocol, tcp, rate)) for tcp in TCPS], axis=0))

    first, last = row("hmipv6", 0.0), row("hmipv6", 0.05)
    quiet = [row(protocol, 0.0).mean() for protocol in ("fmipv6", "himipv6")]
    grows = all_positive(
        [
            (f"{say((p, t, low))} to {at(high)}", lead(numbers, "ror_percent", (p, t, high), (p, t, low)))
            for p in PROTOCOLS
            for t in TCPS
            for low, high in pairwise(RATES)
        ],
        quantity="",
    )
    levels = [
        inside(estimate(first), 1.3, 1.9),
        *(inside(estimate(row(protocol, 0.0)), most=0.4) for protocol in ("fmipv6", "himipv6")),
        inside(estimate(last), 6.0, 7.0),
    ]
    return Finding(
        verdict=every([*levels, grows.verdict]),
        quantity="overhead over HMIPv6 at 0 %, mean of the TCPs",
        unit="%",
        samples=first,
        evidence=f"{first.mean():.2f} % (others {quiet[0]:.2f} and {quiet[1]:.2f} %) without errors, "
        f"{last.mean():.2f} % at 5 % (0.3, 0.2 and 0.5 percentage points allowed); grows in {grows.evidence}",
    )
