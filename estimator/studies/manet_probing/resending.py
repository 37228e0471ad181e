"""Claims of section 4 of the study of TCP-Probing: what New TCP-Probing resends, and how long it probes."""

from collections.abc import Callable, Iterator

import numpy as np

from netcarlo.studies.cells import Samples
from netcarlo.studies.claims import Claim
from netcarlo.studies.judging import all_positive

Line = Callable[[str, str], list[Samples]]
"""(metric, protocol) -> values over the speeds, one array of replications per speed."""


def claims(line: Line, speeds: tuple[float, ...]) -> Iterator[Claim]:
    """Return claims M10 and M11, New TCP-Probing against TCP-Probing at each speed."""
    for id_, metric, text, quantity, unit, expected in (
        ("M10", "resent", "New TCP-Probing resends fewer segments than TCP-Probing.",
         "segments that TCP-Probing resends more", "", "not held"),
        ("M11", "probe_time", "New TCP-Probing spends less time in probe cycles than TCP-Probing.",
         "time that TCP-Probing probes longer", "s", "held"),
    ):  # fmt: skip
        old, new = (line(metric, protocol) for protocol in ("probing", "new_probing"))
        less = [a - b for a, b in zip(old, new, strict=True)]
        least = min(less, key=lambda samples: float(samples.mean()))
        shown = "; ".join(
            f"{speed:g} m/s {a.mean():.3g} and {b.mean():.3g}"
            for speed, a, b in zip(speeds, old, new, strict=True)
        )
        yield Claim(
            id=id_,
            text=text,
            where="section 4",
            verdict=all_positive(less),
            expected=expected,  # type: ignore[arg-type]
            quantity=f"{quantity}, smallest over the speeds",
            unit=unit,
            samples=np.asarray(least),
            evidence=f"TCP-Probing and New TCP-Probing: {shown}"
            + (
                ". Selective acknowledgements save retransmissions at low speed; at high speed routes break "
                "more often, and what was in flight is sent again by both"
                if id_ == "M10" else ""
            ),
        )  # fmt: skip
