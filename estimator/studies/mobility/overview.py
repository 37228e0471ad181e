"""Claims of section 2.1 of the study of TCP over IP mobility, on protocols that are not in its tables."""

from collections.abc import Iterator

import numpy as np

from netcarlo.kernels.base.layout import Out
from netcarlo.kernels.base.parameters import RowP
from netcarlo.studies.cells import Cell, Cells, Samples, estimate
from netcarlo.studies.claims import Claim, every, inside, positive
from netcarlo.studies.judging import gain

NAMES = {"fmipv6": "FMIPv6", "s_binding": "S-Binding", "himipv6": "HIMIPv6"}
ALARMS = (0.0, 50.0, 100.0)
"""Fraction of handovers with a preceding false alarm [%]."""

MUCH = 10.0
"""Minimum fall of goodput that counts as large [%]."""


def distinct(cell: Cell) -> Samples:
    """Return the rate of distinct received packets, as payload [kbit/s]."""
    return np.asarray(cell.out(Out.DELIVERED) * cell.parameter(RowP.DATA) * 8e6 / cell.parameter(RowP.END))


def duplicates(cell: Cell) -> Samples:
    """Return the number of duplicate packets received."""
    return np.asarray(cell.out(Out.RECEIVED) - cell.out(Out.DELIVERED))


def claims(cells: Cells) -> Iterator[Claim]:
    """Yield the claims of section 2.1, for Reno without errors."""
    domains = cells.varied("domain_size")
    mipv6, hmipv6 = (distinct(domains.one(managed=name, domain_size=1.0)) for name in ("mipv6", "hmipv6"))
    behind = -gain(hmipv6, mipv6)
    yield Claim(
        id="C16",
        text="Between MAPs HMIPv6 is slower than MIPv6.",
        where="section 2.1",
        verdict=positive(estimate(behind)),
        expected="not held",
        quantity="MIPv6 over HMIPv6 if every handover is one between MAPs",
        unit="%",
        samples=behind,
        evidence=f"both deliver {hmipv6.mean():.0f} kbit/s: the second registration of HMIPv6 delays the "
        "binding update at the sender by less than the retransmission timeout that both wait for",
    )
    alarms = cells.varied("false_alarm")
    at = {(name, share): alarms.one(managed=name, false_alarm=share) for name in NAMES for share in ALARMS}
    twice = {name: duplicates(at[name, 0.0]) for name in NAMES}
    yield Claim(
        id="C17",
        text="S-Binding delivers packets twice, HIMIPv6 does not.",
        where="section 2.1",
        verdict=every([positive(estimate(twice["s_binding"])), inside(estimate(twice["himipv6"]), most=0.0)]),
        quantity="duplicate packets in 60 s with S-Binding",
        samples=twice["s_binding"],
        evidence="duplicate packets, and goodput without them: "
        + "; ".join(
            f"{said} {twice[name].mean():.1f}, {distinct(at[name, 0.0]).mean():.0f} kbit/s"
            for name, said in NAMES.items()
        ),
    )
    falls = {name: -gain(distinct(at[name, 100.0]), distinct(at[name, 0.0])) for name in NAMES}
    yield Claim(
        id="C18",
        text="False alarms cost FMIPv6 much, and protocols that copy packets to both routers nothing.",
        where="section 2.1",
        verdict=every(
            [inside(estimate(falls["fmipv6"]), least=MUCH)]
            + [inside(estimate(falls[name]), most=0.0) for name in ("s_binding", "himipv6")]
        ),
        quantity="fall of FMIPv6's goodput if each handover has a false alarm",
        unit="%",
        samples=falls["fmipv6"],
        evidence="goodput with a false alarm before 0, 50 and 100 % of the handovers: "
        + "; ".join(
            f"{said} {', '.join(f'{distinct(at[name, share]).mean():.0f}' for share in ALARMS)} kbit/s"
            for name, said in NAMES.items()
        )
        + f" ({MUCH:g} % counts as much)",
    )
    yield Claim(
        id="C19",
        text="Tunnelled packets are larger, which costs capacity.",
        where="section 2.1",
        verdict="not testable",
        expected="not testable",
        evidence="tunnel headers are not modelled: they take no time and no capacity",
    )
