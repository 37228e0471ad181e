"""Claims of the study of sender buffers over 802.11g (S. Mun, H. Lee, H. Choo and W. Kong, in Korean).

A claim that the averages decide is judged twice: by our numbers and by the paper's own.
"""

import itertools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from netcarlo.cells import Cells, Samples
from netcarlo.claims import Claim, Verdict, verdict
from netcarlo.comparison import Summaries
from netcarlo.kernels.layout import P
from netcarlo.studies.wlan_buffer_metrics import (
    DEFAULT,
    METRICS,
    PLATEAU,
    PUBLISHED_MBT,
    RTTS,
    Buffers,
    Numbers,
    at,
    buffer_threshold,
    gain,
    in_flight,
    percent,
    plateau,
    predicted,
    regression,
)
from netcarlo.study import Study, Value

__all__ = ["METRICS", "claims", "summaries"]

SUFFICES = 96
"""The buffer that the paper takes at 5 ms and more [KB]; that of its 50 ms run is not given."""

LARGEST = 1024

FLAT = 0.02
"""A change from 96 to 128 KB that counts as none."""

PUBLISHED_GAINS = {5: 20.3, 10: 21.4, 20: 45.4}
PUBLISHED_SLOPE = 0.0253


def summaries(cells: Cells) -> Summaries:
    """The published numbers that follow from several cells."""
    numbers, buffers = simulated(cells), tried(cells)

    def threshold(conditions: Mapping[str, Value]) -> Samples:
        rtt, _ = at(conditions)
        return np.array([float(buffer_threshold(numbers, rtt, buffers[rtt]))])

    def saving(conditions: Mapping[str, Value]) -> Samples:
        return 100 * (1 - threshold(conditions) / DEFAULT)

    measured = numbers(50, SUFFICES)
    off = 100 * abs(predicted(numbers, 50, consistent=False) / measured - 1)
    scenario = cells.one(rtt_ms=1.0, buffer_kb=32.0).scenario
    assert scenario.wireless is not None
    return {
        "mbt": threshold,
        "memory_saving": saving,
        "gain": lambda conditions: gain(numbers, *at(conditions)),
        "least_gain": np.min([gain(numbers, rtt, SUFFICES) for rtt in PUBLISHED_GAINS], axis=0),
        "intercept": regression(numbers, shift=1)[0],
        "slope": regression(numbers, shift=1)[1],
        "prediction_50ms": predicted(numbers, 50, consistent=False),
        "prediction_accuracy": 100 - off,
        "prediction_error": off,
        "phy_rate_max": np.array([max(scenario.wireless.known_rates) / 1e6]),
        "run_duration": np.array([cells.all[0].parameter(P.END) * 1e-9]),
    }  # fmt: skip


def simulated(cells: Cells) -> Numbers:
    """Our averages."""
    return lambda rtt, kb: cells.value("throughput_avg", rtt_ms=float(rtt), buffer_kb=float(kb))


def printed(study: Study) -> Numbers:
    """The paper's averages."""
    found = {at(n.conditions): n.value for n in study.published if n.metric == "throughput_avg"}
    return lambda rtt, kb: np.array([found[rtt, kb]])


def tried(cells: Cells) -> Buffers:
    """The buffers of the paper at each RTT."""
    pairs = sorted(at(cell.conditions) for cell in cells.all)
    return {rtt: [kb for other, kb in pairs if other == rtt] for rtt, _ in pairs}


@dataclass(frozen=True)
class Finding:
    """What a set of averages says about a claim."""

    held: bool
    evidence: str
    quantity: str = ""
    unit: str = ""
    samples: Samples | None = None


def claims(cells: Cells) -> Iterator[Claim]:
    """What the paper claims, each with the evidence."""
    ours, theirs, buffers = simulated(cells), printed(cells.study), tried(cells)

    def judge(
        id_: str, text: str, where: str, find: Callable[[Numbers], Finding], *, expected: Verdict = "held"
    ) -> Claim:
        found, own = find(ours), find(theirs)
        return Claim(
            id=id_, text=text, where=where,
            verdict=verdict(found.held), own=verdict(own.held), expected=expected,
            quantity=found.quantity, unit=found.unit, samples=found.samples,
            published=f"{float(np.mean(own.samples)):.4g}" if own.samples is not None else "",
            evidence=f"{found.evidence}. The paper's own numbers: {own.evidence}",
        )  # fmt: skip

    yield judge("B1", "At every RTT the average rises with the buffer up to the MBT, then is flat to 128 KB.",
                "table 2", lambda numbers: rises(numbers, buffers))  # fmt: skip
    yield judge("B2", "The MBT is 32 KB at 1 ms and 96 KB at 5, 10 and 20 ms.", "section 3",
                lambda numbers: thresholds(numbers, buffers))  # fmt: skip
    yield judge("B3", "The throughput at the MBT falls with the RTT.", "section 3.3", falls)
    yield judge("B4", "At 5, 10 and 20 ms the MBT gains 20.3, 21.4 and 45.4 % over the default of 64 KB.",
                "section 4.1", gains)  # fmt: skip
    yield judge("B5", "At 1 ms the default of 64 KB is no better than 32 KB.", "section 3.2", no_better)
    yield judge("B6", "Larger buffers harm: 256 KB is 1 to 3 % below 128 KB, 1 MB at 50 ms is 15 % below.",
                "table 2, section 4.2", harm, expected="not held")  # fmt: skip
    yield judge("B7", "The throughput at the MBT falls exponentially with the RTT, by 0.0253 per ms.",
                "section 4.2", slope)  # fmt: skip
    yield judge("B8", "The law predicts the throughput at 50 ms within 3 %.", "section 4.2", prediction,
                expected="not held")  # fmt: skip
    yield limited(cells)
    yield best_seconds(cells)


def rises(numbers: Numbers, buffers: Buffers) -> Finding:
    """B1."""
    against, flat = [], []
    for rtt, mbt in PUBLISHED_MBT.items():
        below = [kb for kb in buffers[rtt] if kb <= mbt]
        steps = itertools.pairwise(below)
        against += [
            f"{b} KB at {rtt} ms" for a, b in steps if np.mean(numbers(rtt, b) - numbers(rtt, a)) <= 0
        ]
        if 128 in buffers[rtt]:
            flat.append(float(np.mean(numbers(rtt, 128) / numbers(rtt, mbt) - 1)))
    largest = max(map(abs, flat))
    return Finding(
        held=not against and largest <= FLAT,
        evidence=("rises everywhere" if not against else f"does not rise to {', '.join(against)}")
        + f"; from 96 to 128 KB it changes by {', '.join(f'{100 * f:+.1f}' for f in flat)} %",
    )


def thresholds(numbers: Numbers, buffers: Buffers) -> Finding:
    """B2."""
    found = {rtt: buffer_threshold(numbers, rtt, buffers[rtt]) for rtt in RTTS}
    margin = []
    for rtt, kb in found.items():
        smaller = max((b for b in buffers[rtt] if b < kb), default=kb)
        off = float(np.mean(numbers(rtt, smaller))) / plateau(numbers, rtt, buffers[rtt]) - 1
        margin.append(f"{smaller} KB at {rtt} ms {100 * off:+.1f} %")
    return Finding(
        held=found == PUBLISHED_MBT,
        evidence=f"{', '.join(f'{kb} KB at {rtt} ms' for rtt, kb in found.items())} (the smallest within "
        f"{percent(PLATEAU)} of the mean of the two largest); the next smaller: {', '.join(margin)}",
    )


def at_mbt(numbers: Numbers) -> list[Samples]:
    """The averages at the MBTs, and at 50 ms."""
    return [numbers(rtt, kb) for rtt, kb in {**PUBLISHED_MBT, 50: SUFFICES}.items()]


def falls(numbers: Numbers) -> Finding:
    """B3."""
    averages = [float(np.mean(values)) for values in at_mbt(numbers)]
    return Finding(
        held=all(a > b for a, b in itertools.pairwise(averages)),
        evidence=f"{', '.join(f'{a:.1f}' for a in averages)} Mbit/s at 1, 5, 10, 20 and 50 ms",
    )


def gains(numbers: Numbers) -> Finding:
    """B4: the three gains, each within 8 percentage points."""
    found = {rtt: gain(numbers, rtt, SUFFICES) for rtt in PUBLISHED_GAINS}
    off = [abs(float(values.mean()) - PUBLISHED_GAINS[rtt]) for rtt, values in found.items()]
    return Finding(
        held=max(off) <= 8,
        evidence=f"{', '.join(f'{values.mean():.1f}' for values in found.values())} % (8 points either "
        "way count)",
    )


def no_better(numbers: Numbers) -> Finding:
    """B5."""
    found = 100 * (numbers(1, DEFAULT) / numbers(1, 32) - 1)
    return Finding(
        held=bool(found.mean() <= 100 * PLATEAU),
        quantity="64 KB over 32 KB at 1 ms", unit="%", samples=found,
        evidence=f"better would be more than {percent(PLATEAU)}",
    )  # fmt: skip


def harm(numbers: Numbers) -> Finding:
    """B6."""
    larger = [float(np.mean(100 * (1 - numbers(rtt, 256) / numbers(rtt, 128)))) for rtt in PUBLISHED_GAINS]
    huge = 100 * (1 - numbers(50, LARGEST) / numbers(50, SUFFICES))
    return Finding(
        held=bool(min(larger) >= 0.95 and huge.mean() >= 10),
        quantity="1 MB below 96 KB at 50 ms", unit="%", samples=huge,
        evidence=f"256 KB is {', '.join(f'{value:.1f}' for value in larger)} % below 128 KB at 5, 10 and "
        "20 ms",
    )  # fmt: skip


def slope(numbers: Numbers) -> Finding:
    """B7: within 12 %."""
    a, b = regression(numbers, shift=0)
    shifted, _ = regression(numbers, shift=1)
    return Finding(
        held=bool(abs(b.mean() / PUBLISHED_SLOPE - 1) <= 0.12),
        quantity="fall per ms", unit="%", samples=100 * b,
        evidence=f"intercept {a.mean():.2f} Mbit/s over the RTT, {shifted.mean():.2f} over RTT + 1 ms (12 "
        "% of the slope either way count)",
    )  # fmt: skip


def prediction(numbers: Numbers) -> Finding:
    """B8, with both conventions of the intercept."""
    measured = float(np.mean(numbers(50, SUFFICES)))
    both = [predicted(numbers, 50, consistent=consistent) for consistent in (True, False)]
    off = [100 * (float(values.mean()) / measured - 1) for values in both]
    return Finding(
        held=any(abs(o) <= 3 for o in off), quantity="law at 50 ms, intercept as printed", unit="Mbit/s",
        samples=both[1],
        evidence=f"{both[0].mean():.2f} ({off[0]:+.1f} %) with one convention throughout, "
        f"{both[1].mean():.2f} ({off[1]:+.1f} %) with the intercept of RTT + 1 ms; at 50 ms "
        f"{measured:.2f} Mbit/s",
    )  # fmt: skip


def limited(cells: Cells) -> Claim:
    """B9: what the sender's buffer holds over the loop's time is the throughput."""
    cell = cells.one(rtt_ms=20.0, buffer_kb=float(DEFAULT))
    room, average = cell.parameter(P.SEND_BUFFER), cells.samples("throughput_avg", cell)
    share = in_flight(cell) / room
    plateau = max(float(cells.samples("throughput_avg", one).mean()) for one in cells.where(rtt_ms=1.0))
    return Claim(
        id="B9",
        text="64 KB at 20 ms is limited by the window: what is in flight is what the buffer holds.",
        where="derived from table 2",
        verdict=verdict(bool(0.6 < share.mean() <= 1 and average.mean() < 0.6 * plateau)),
        quantity="data on the way over what the buffer holds",
        samples=share,
        evidence=f"the buffer holds {room} segments and is refilled once a third is free, so that two "
        f"thirds to all of it are in use; the radio carries {plateau:.1f} Mbit/s, here "
        f"{average.mean():.1f} are used",
    )


def best_seconds(cells: Cells) -> Claim:
    """B10: over the cells of the paper that have both values."""
    both = {at(n.conditions) for n in cells.study.published if n.metric == "throughput_max"}
    ratios = {
        (rtt, kb): float(
            np.mean(cells.value("throughput_max", **cell) / cells.value("throughput_avg", **cell))
        )
        for rtt, kb in sorted(both)
        for cell in [{"rtt_ms": float(rtt), "buffer_kb": float(kb)}]
    }
    inside = [pair for pair, ratio in ratios.items() if 1.045 <= ratio <= 1.175]
    low, high = min(ratios, key=ratios.__getitem__), max(ratios, key=ratios.__getitem__)
    return Claim(
        id="B10",
        text="The best second of a run is 5 to 17 % above its average.",
        where="table 2",
        verdict=verdict(len(inside) == len(ratios)),
        expected="not held",
        evidence=f"in {len(inside)} of {len(ratios)} cells; from {ratios[low]:.3f} ({low[1]} KB at "
        f"{low[0]} ms) to {ratios[high]:.3f} ({high[1]} KB at {high[0]} ms)",
    )
