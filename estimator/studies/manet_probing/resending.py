"""Claims of section 4 of the study of TCP-Probing: retransmissions and probe time of New TCP-Probing."""

from collections.abc import Callable, Iterator

import numpy as np

from netcarlo.studies.cells import Samples
from netcarlo.studies.claims import Claim
from netcarlo.studies.judging import all_positive

Line = Callable[[str, str], list[Samples]]
"""Function (metric, protocol) -> values at each speed, an array with one value per replication."""


def claims(line: Line, speeds: tuple[float, ...]) -> Iterator[Claim]:
    """Yield claims M10 and M11, which compare New TCP-Probing with TCP-Probing at each speed."""
    for id_, metric, text, quantity, unit, expected in (
        ("M10", "resent", "New TCP-Probing retransmits fewer segments than TCP-Probing.",
         "additional retransmissions of TCP-Probing", "", "not held"),
        ("M11", "probe_time", "New TCP-Probing spends less time in probe cycles than TCP-Probing.",
         "additional probe time of TCP-Probing", "s", "held"),
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
                "more often, and both senders retransmit all packets that were in flight"
                if id_ == "M10" else ""
            ),
        )  # fmt: skip
