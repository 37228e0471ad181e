"""Claims of the study of TCP-Probing in a mobile ad hoc network (K. Kong and others, in Korean)."""

from collections.abc import Iterator

import numpy as np

from netcarlo.kernels.adhoc.layout import METRE, Manet
from netcarlo.kernels.base.parameters import ReliableP
from netcarlo.numerics.statistics import Mean, mean
from netcarlo.studies.cells import Cells, Samples, estimate
from netcarlo.studies.claims import Claim, every, inside, positive, verdict
from netcarlo.studies.comparison import Summaries
from netcarlo.studies.judging import all_positive, said
from netcarlo.studies.manet_probing import resending
from netcarlo.studies.manet_probing.metrics import METRICS, fixed, gain_of_means, size_bits, slope
from netcarlo.studies.maps import Map, Plane, Reading

__all__ = ["METRICS", "claims", "maps", "summaries"]

SPEEDS = (2.0, 4.0, 6.0, 8.0, 10.0, 12.0, 14.0)
"""Speeds at which the figures of the paper are evaluated [m/s]."""

COARSE = (2.0, 8.0, 14.0)
"""Speeds of the cells without channel errors [m/s]."""

ENDS = (2.0, 14.0)
"""Speeds of the cells in the maps [m/s]."""

PROTOCOLS = ("newreno", "probing", "new_probing")
"""Senders of the study."""
ERROR, NO_ERROR = 5.0, 0.0
"""Channel errors of the two sets of cells [%]."""

REACH = "range, and initial distance of the two hosts"
"""Parameters that were fitted with claims M1 and M8 in view."""
TIMER = "loss of ACKs and minimum RTO"
"""Parameters that were fitted with claims M2 and M3 in view."""

STRONG = 20.0
"""Minimum fall from the lowest to the highest speed that counts as strong [%]."""

PUBLISHED_GAIN, NEAR = 22.0, 5.0
"""Published gain of New TCP-Probing over TCP-Probing, and the allowed difference [%]."""

SAME = 0.1
"""Maximum difference of transfer times that count as equal [%]."""


def summaries(cells: Cells) -> Summaries:
    """Return the settings that the paper states, and its only published result."""
    cell = cells.one(protocol="newreno", speed_mps=8.0, error_percent=ERROR)
    network = cell.scenario.adhoc
    assert network is not None
    settings = {
        "area_x": cell.parameter(Manet.WIDTH) / METRE,
        "area_y": cell.parameter(Manet.HEIGHT) / METRE,
        "nodes": cell.parameter(Manet.NODES),
        "speed_min": min(cell["speed_mps"] for cell in cells.all),
        "speed_max": max(cell["speed_mps"] for cell in cells.all),
        "phy_rate": fixed(network.radio.rate) * 1e-6,
        "channel_error": fixed(network.residual_error) * 100,
        "transfer_size": size_bits(cell) / 8e6,
    }
    improvement = over_speeds(cells, "throughput", "new_probing", "probing")
    return {
        "throughput_improvement": improvement,
        **{name: np.array([float(value)]) for name, value in settings.items()},
    }


def at(cells: Cells, metric: str, protocol: str, speed: float, error: float = ERROR) -> Samples:
    """Return a metric of a protocol at a speed."""
    return cells.value(metric, protocol=protocol, speed_mps=speed, error_percent=error)


def line(cells: Cells, metric: str, protocol: str, error: float = ERROR) -> list[Samples]:
    """Return a metric of a protocol at each speed."""
    return [at(cells, metric, protocol, speed, error) for speed in SPEEDS]


def gains(cells: Cells, metric: str, of: str, over: str, error: float = ERROR) -> list[Samples]:
    """Return by how much the mean of one protocol exceeds that of another at each speed [%]."""
    pairs = zip(line(cells, metric, of, error), line(cells, metric, over, error), strict=True)
    return [gain_of_means(a, b) for a, b in pairs]


def over_speeds(cells: Cells, metric: str, of: str, over: str) -> Samples:
    """Return the mean over the speeds of the gain of one protocol over another [%]."""
    return np.asarray(np.mean(gains(cells, metric, of, over), axis=0))


def interval(samples: Samples, digits: int = 1) -> str:
    """Return a mean with its interval as text."""
    found: Mean = mean(samples)
    return f"{found.mean:+.{digits}f} [{found.ci_low:+.{digits}f}, {found.ci_high:+.{digits}f}]"


def change(values: list[Samples]) -> Samples:
    """Return the change from the lowest to the highest speed along the regression line, relative to the mean
    [%]."""
    reach = SPEEDS[-1] - SPEEDS[0]
    return 100 * reach * slope(values, SPEEDS) / float(np.mean(values))


def against(cells: Cells, metric: str, protocol: str) -> Samples:
    """Return the gain of the mean at the highest speed over that at the lowest [%]."""
    slow, fast = (at(cells, metric, protocol, speed) for speed in ENDS)
    return gain_of_means(fast, slow)


def claims(cells: Cells) -> Iterator[Claim]:
    """Yield the claims that are computations; the others are in `study.yaml`."""
    yield falls(cells)
    yield falls_less(cells)
    yield from order(cells)
    yield product(cells)
    yield breaks_only(cells)
    yield energy(cells)
    yield from resending.claims(lambda metric, protocol: line(cells, metric, protocol), SPEEDS)


def falls(cells: Cells) -> Claim:
    """Return claim M1, with the causes of the fall in the evidence."""
    found = change(line(cells, "throughput", "newreno"))
    slow, fast = (cells.one(protocol="newreno", speed_mps=v, error_percent=ERROR) for v in ENDS)

    def at_both(name: str, digits: int, *, scale: float = 1.0) -> str:
        low, high = (float(np.nanmean(cell.outcome(name))) * scale for cell in (slow, fast))
        return f"{low:.{digits}f} and {high:.{digits}f}"

    return Claim(
        id="M1",
        text="The throughput of NewReno falls strongly as the speed rises from 2 to 14 m/s.",
        where="section 4, figure 3",
        verdict=inside(estimate(found), most=-STRONG),
        fitted=REACH,
        quantity="change from 2 to 14 m/s along the line through all speeds, of the mean",
        unit="%",
        samples=found,
        evidence=f"{said(line(cells, 'throughput', 'newreno'), 0)} kbit/s at 2 to 14 m/s; 14 against 2 m/s "
        f"{interval(against(cells, 'throughput', 'newreno'))} % (a fall of {STRONG:g} % counts as strong). "
        "Hosts that start near each other separate sooner the faster they are. At 2 and at 14 m/s the "
        f"shortest path between them has {at_both('mean_shortest_hops', 2)} hops; in a transfer "
        f"{at_both('breaks', 0)} links break, {at_both('timeouts', 0)} timeouts occur, and for "
        f"{at_both('waited_s', 1)} s of {at_both('transfer_s', 0)} s the sender has no route. Range and "
        "initial distance, which the paper does not give, are fitted with this claim in view; the last maps "
        "show its limits. With random positions and the 250 m of ns-2, the throughput does not fall, also "
        "not in ns-2",
    )  # fmt: skip


def falls_less(cells: Cells) -> Claim:
    """Return claim M9: TCP-Probing compared with M1."""
    changes = {protocol: change(line(cells, "throughput", protocol)) for protocol in PROTOCOLS}
    names = cells.study.description.conditions["protocol"]
    less = changes["probing"] - changes["newreno"]

    def timeouts(protocol: str, speed: float) -> Samples:
        return at(cells, "timeouts", protocol, speed)

    return Claim(
        id="M9",
        text="The throughput of TCP-Probing falls less with the speed than that of NewReno.",
        where="section 4, figure 3",
        verdict=positive(estimate(less)),
        quantity="difference of the two changes from 2 to 14 m/s, each along its line, of its mean",
        unit="points",
        samples=less,
        evidence=", ".join(f"{names.show(p)} {interval(one)} %" for p, one in changes.items())
        + "; 14 against 2 m/s "
        + ", ".join(f"{interval(against(cells, 'throughput', p))} %" for p in PROTOCOLS)
        + ". A broken link costs a timeout. Timeouts at 2 and 14 m/s: "
        + "; ".join(f"{names.show(p)} {said([timeouts(p, v) for v in ENDS])}" for p in PROTOCOLS[:2]),
    )


def order(cells: Cells) -> Iterator[Claim]:
    """Yield claims M2 and M8 on figures 3 and 4."""
    first = gains(cells, "throughput", "probing", "newreno")
    second = gains(cells, "throughput", "new_probing", "probing")
    least = min([*first, *second], key=lambda samples: float(samples.mean()))
    yield Claim(
        id="M2",
        text="At every speed New TCP-Probing is faster than TCP-Probing, and that faster than NewReno.",
        where="section 4, figure 3",
        verdict=all_positive((*first, *second)),
        fitted=TIMER,
        quantity="smallest of the 14 gains",
        unit="%",
        samples=least,
        evidence=f"at 2 to 14 m/s TCP-Probing over NewReno {said(first)} %, New TCP-Probing over TCP-Probing "
        f"{said(second)} %; {sum(mean(one).ci_low > 0 for one in (*first, *second))} of the 14 intervals are "
        "above 0",
    )
    yield from times(cells)


def times(cells: Cells) -> Iterator[Claim]:
    """Yield claim M8 on the rise of the transfer times with the speed."""
    lines = {protocol: line(cells, "transfer_time", protocol) for protocol in PROTOCOLS}
    names = cells.study.description.conditions["protocol"]
    changes = {protocol: change(values) for protocol, values in lines.items()}
    together = np.asarray(np.mean(list(changes.values()), axis=0))
    yield Claim(
        id="M8",
        text="The transfer times rise with the speed.",
        where="section 4, figure 4",
        verdict=positive(estimate(together)),
        fitted=REACH,
        quantity="change from 2 to 14 m/s along the line, of the mean, mean of the three",
        unit="%",
        samples=together,
        evidence=", ".join(f"{names.show(p)} {interval(one)} %" for p, one in changes.items())
        + "; 14 against 2 m/s "
        + ", ".join(f"{interval(against(cells, 'transfer_time', p))} %" for p in PROTOCOLS)
        + ". As for M1, range and initial distance are fitted with this claim in view, and the last maps "
        "show its limits",
    )


def product(cells: Cells) -> Claim:
    """Return claim M5, evaluated for each run and for the means."""
    off, means = [], []
    for cell in cells.where(error_percent=ERROR):
        rates, times = (cells.samples(metric, cell) for metric in ("throughput", "transfer_time"))
        off.append(float(np.max(np.abs(1e3 * rates * times / size_bits(cell) - 1))))
        means.append(float(1e3 * rates.mean() * times.mean() / size_bits(cell) - 1))
    return Claim(
        id="M5",
        text="Throughput times transfer time is 40 Mbit (5 decimal megabytes) at every point.",
        where="section 4, figures 3 and 4",
        verdict="not testable",
        expected="not testable",
        evidence="an identity without information: throughput is computed as 40 Mbit over the time. It holds "
        f"in every run within {100 * max(off):.1g} %, and every transfer finishes. The product of the two "
        f"means at a point is {100 * min(means):.1f} to {100 * max(means):.1f} % larger, because runs differ "
        "(Jensen's inequality), so two averaged figures of a paper need not agree better",
    )  # fmt: skip


def breaks_only(cells: Cells) -> Claim:
    """Return claim M6: without errors, only route breaks make a difference."""
    same, runs, most = 0, 0, 0.0
    for speed in COARSE:
        found = [at(cells, "transfer_time", protocol, speed, NO_ERROR) for protocol in PROTOCOLS]
        steady = np.sum([route_changes(cells, protocol, speed) for protocol in PROTOCOLS], axis=0) == 0
        spread = 100 * (np.max(found, axis=0) / np.min(found, axis=0) - 1)
        same, runs = same + int(steady.sum()), runs + len(steady)
        most = max(most, float(np.max(spread[steady], initial=0.0)))
    with_error = over_speeds(cells, "throughput", "new_probing", "newreno")
    little = float(abs(with_error.mean())) / 4
    pairs = [[at(cells, "throughput", p, v, NO_ERROR) for p in ("new_probing", "newreno")] for v in COARSE]
    without = np.asarray(np.mean([gain_of_means(a, b) for a, b in pairs], axis=0))
    return Claim(
        id="M6",
        text="Without errors the three differ by route breaks only.",
        where="derived from section 4",
        verdict=every([verdict(same > 0 and most <= SAME), inside(estimate(without), -little, little)]),
        quantity="New TCP-Probing over NewReno without errors, mean over 2, 8 and 14 m/s",
        unit="%",
        samples=without,
        evidence=f"in the {same} of {runs} runs in which no link breaks and no route is shortened (which "
        f"reorders segments), the transfer times differ by at most {most:.2g} % ({SAME:g} % counts as "
        f"equal); with errors the gain is {interval(with_error)} %",
    )


def route_changes(cells: Cells, protocol: str, speed: float) -> Samples:
    """Return the number of route changes in each run without errors."""
    breaks, shortened = (at(cells, name, protocol, speed, NO_ERROR) for name in ("breaks", "shortened"))
    return breaks + shortened


def energy(cells: Cells) -> Claim:
    """Return claim M7 on energy."""
    saved = [-one for one in gains(cells, "joules_per_mb", "new_probing", "probing")]
    per_mb = {protocol: line(cells, "joules_per_mb", protocol) for protocol in PROTOCOLS}
    times, joules = (
        float(np.mean(over_speeds(cells, metric, "new_probing", "newreno")))
        for metric in ("transfer_time", "joules_per_mb")
    )
    names = cells.study.description.conditions["protocol"]
    over_newreno = over_speeds(cells, "joules_per_mb", "newreno", "probing")
    total = {p: float(np.mean(values)) for p, values in per_mb.items()}
    return Claim(
        id="M7",
        text="New TCP-Probing needs the least energy for the transfer.",
        where="sections 4 and 5",
        verdict=all_positive((*saved, over_newreno)),
        quantity="energy saved against TCP-Probing, mean over the speeds",
        unit="%",
        samples=np.asarray(np.mean(saved, axis=0)),
        evidence="all ten nodes, mean over the speeds: "
        + ", ".join(f"{names.show(p)} {value:.1f} J/MB" for p, value in total.items())
        + ". A node that only listens needs nearly as much power as one that sends, so the energy is "
        f"proportional to the time, as the paper assumes: {times:+.1f} % time and {joules:+.1f} % energy "
        "compared with NewReno",
    )  # fmt: skip


def maps(cells: Cells) -> Iterator[Map]:
    """Yield maps of results over parameters that the paper does not state, at the lowest and highest
    speed."""
    cell = cells.one(protocol="newreno", speed_mps=8.0, error_percent=ERROR)
    network = cell.scenario.adhoc
    assert network is not None
    ack_loss = round(100 * fixed(network.ack_error), 6)
    timer: Reading = {"min_rto": cell.parameter(ReliableP.MIN_RTO) / 1e9, "ack_loss": ack_loss}
    yield from of_gains(Plane(cells.varied("min_rto"), "min_rto"), timer)
    range_m = cell.parameter(Manet.RANGE) / METRE
    layer: Reading = {"range_m": range_m, "layer": "setting"}
    yield from of_gains(Plane(cells.varied("range_m"), "range_m"), layer)
    start: Reading = {"start_m": cell.parameter(Manet.APART_MAX) / METRE, "range_m": range_m}
    yield from of_speed(Plane(cells.varied("start_m"), "start_m"), start)


def of_gains(plane: Plane, setting: Reading) -> Iterator[Map]:
    """Yield maps of the two gains, and of whether M2 and M3 hold."""

    def over(of: str, base: str, reading: Reading) -> Samples:
        pairs = [[of_reading(plane, "throughput", p, reading, speed) for p in (of, base)] for speed in ENDS]
        return np.asarray(np.mean([gain_of_means(a, b) for a, b in pairs], axis=0))

    def first(reading: Reading) -> Samples:
        return over("probing", "newreno", reading)

    def second(reading: Reading) -> Samples:
        return over("new_probing", "probing", reading)

    def m2(reading: Reading) -> bool:
        return bool(first(reading).mean() > 0 and second(reading).mean() > 0)

    def m3(reading: Reading) -> bool:
        return abs(float(second(reading).mean()) - PUBLISHED_GAIN) <= NEAR

    def held(reading: Reading) -> str:
        found = [name for name, holds in (("M2", m2), ("M3", m3)) if holds(reading)]
        sure = all(mean(one(reading)).ci_low > 0 or mean(one(reading)).ci_high < 0 for one in (first, second))
        return ("" if sure else "~") + (" ".join(found) or "\N{EN DASH}")

    yield plane.map(
        "TCP-Probing over NewReno", first, unit="%", setting=setting, note="M2 needs more than 0."
    )
    yield plane.map(
        "New TCP-Probing over TCP-Probing", second, unit="%", setting=setting,
        note=f"M2 needs more than 0, M3 {PUBLISHED_GAIN - NEAR:g} to {PUBLISHED_GAIN + NEAR:g} %.",
    )  # fmt: skip
    yield plane.map(
        "Which claims hold", lambda reading: np.array([float(m2(reading) + 2 * m3(reading))]),
        setting=setting, mark=held, kinds=("neither", "M2 only", "M3 only", "M2 and M3"),
        note="Mean over 2 and 14 m/s; ~ if the sign of a gain is not significant at 95 %.",
    )  # fmt: skip


def of_speed(plane: Plane, setting: Reading) -> Iterator[Map]:
    """Yield maps of the change from 2 to 14 m/s: claims M1, M8 and M9, for which range and distance are
    fitted."""

    def faster(metric: str, protocol: str, reading: Reading) -> Samples:
        slow, fast = (of_reading(plane, metric, protocol, reading, speed) for speed in ENDS)
        return gain_of_means(fast, slow)

    def newreno(reading: Reading) -> Samples:
        return faster("throughput", "newreno", reading)

    def rise(reading: Reading) -> Samples:
        return np.asarray(np.mean([faster("transfer_time", p, reading) for p in PROTOCOLS], axis=0))

    def less(reading: Reading) -> Samples:
        return faster("throughput", "probing", reading) - newreno(reading)

    yield plane.map(
        "Throughput of NewReno, 14 m/s against 2 m/s", newreno, unit="%", setting=setting,
        note=f"M1 needs \N{MINUS SIGN}{STRONG:g} % or less.",
    )  # fmt: skip
    yield plane.map(
        "Transfer times, 14 m/s against 2 m/s", rise, unit="%", setting=setting,
        note="Mean of the three senders. M8 needs more than 0.",
    )  # fmt: skip
    yield plane.map(
        "Change of TCP-Probing less that of NewReno", less, unit="points", setting=setting,
        note="Changes of the throughput from 2 to 14 m/s. M9 needs more than 0.",
    )  # fmt: skip


def of_reading(plane: Plane, metric: str, protocol: str, reading: Reading, speed: float) -> Samples:
    """Return a metric of a protocol with assumed values of two parameters."""
    where = {"protocol": protocol, "speed_mps": speed, "error_percent": ERROR, **reading}
    return plane.cells.value(metric, **where)
