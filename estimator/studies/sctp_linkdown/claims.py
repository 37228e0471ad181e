"""Averages and claims of the study of SCTP and TCP over links that go down (Y.-W. Choi, Y.-J. Lee, in
Korean)."""

import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from netcarlo.kernels.base.layout import Out
from netcarlo.kernels.base.parameters import ReliableP, RowP
from netcarlo.studies.cells import Cell, Cells, Samples, estimate
from netcarlo.studies.claims import Claim, Verdict, every, inside, positive, verdict
from netcarlo.studies.judging import all_positive, gain, printed, printed_range, said
from netcarlo.studies.sctp_linkdown import excerpts, window
from netcarlo.studies.sctp_linkdown.metrics import METRICS
from netcarlo.studies.selection import Value

__all__ = ["METRICS", "claims", "summaries"]

BASE = {"bandwidth_mbps": 0.5, "paper_rtt_ms": 200.0, "sim_time_s": 100.0}
RTT = [10.0, 50.0, 100.0, 200.0, 500.0, 700.0, 1000.0]
BANDWIDTH = [0.1, 0.5, 1.0, 5.0, 10.0]

NOTICEABLE = 5.0
"""Minimum difference that counts as noticeable [%]."""


def over(reduce: Callable[..., Any], samples: Sequence[Samples]) -> Samples:
    """Return a reduction over cells for each replication."""
    found: Samples = reduce(samples, axis=0)
    return found


def shown(samples: Samples, number: int) -> Verdict:
    """Return the verdict on whether the mean, rounded or truncated, is the integer `number`."""
    return inside(estimate(samples), number - 0.5, number + 1 - 1e-9)


def mean(cells: Cells, protocol: str, **conditions: Value | Sequence[Value]) -> Samples:
    """Return the mean utilisation of the cells with these conditions, for each replication."""
    found = cells.where(protocol=protocol, sim_time_s=100.0, **conditions)
    return over(np.mean, [cells.samples("utilisation", cell) for cell in found])


def table5(cells: Cells, protocol: str) -> Samples:
    """Return the mean of a row of table 5, including its 0 s column."""
    return mean(cells, protocol, bandwidth_mbps=0.5, paper_rtt_ms=200.0)


def table6(cells: Cells, protocol: str, link_down_s: list[float]) -> Samples:
    """Return the mean of a protocol's rows of table 6."""
    return mean(cells, protocol, bandwidth_mbps=0.5, link_down_s=link_down_s)


def table7(cells: Cells, protocol: str, link_down_s: list[float]) -> Samples:
    """Return the mean of a protocol's rows of table 7."""
    return mean(cells, protocol, paper_rtt_ms=200.0, link_down_s=link_down_s)


def over_tcp_and_single(cells: Cells) -> Samples:
    """Return the gain of SCTP (multi) over the mean of TCP and SCTP (single), averaged over tables 5, 6 and 7
    [%]."""
    tables: list[Callable[[str], Samples]] = [
        lambda protocol: table5(cells, protocol),
        lambda protocol: table6(cells, protocol, [0.0, 10.0]),
        lambda protocol: table7(cells, protocol, [0.0, 10.0]),
    ]
    return over(np.mean, [gain(t("sctp_multi"), (t("tcp") + t("sctp_single")) / 2) for t in tables])


def summaries(cells: Cells) -> dict[str, Samples]:
    """Return the published numbers that depend on several cells, one value per replication."""
    tcp, sctp = (cells.one(protocol=p, link_down_s=10.0, **BASE) for p in ("tcp", "sctp_multi"))
    data_tcp, data_sctp = tcp.parameter(RowP.DATA), sctp.parameter(RowP.DATA)
    by_link_down = gain(table5(cells, "sctp_multi"), table5(cells, "tcp"))
    by_rtt = gain(table6(cells, "sctp_multi", [10.0]), table6(cells, "tcp", [10.0]))
    by_bandwidth = gain(table7(cells, "sctp_multi", [10.0]), table7(cells, "tcp", [10.0]))
    settings = {
        "ssthresh_tcp": tcp.parameter(ReliableP.INITIAL_SSTHRESH) * data_tcp,
        "ssthresh_sctp": sctp.parameter(ReliableP.INITIAL_SSTHRESH),
        "packet_size": data_tcp + tcp.parameter(RowP.HEADER),
        "data_size_tcp": data_tcp,
        "data_size_sctp": data_sctp,
        "mtu": data_sctp + sctp.parameter(RowP.CHUNK_HEADER) + sctp.parameter(RowP.HEADER),
    }
    return {
        "gain_multi_over_tcp_by_rtt": by_rtt,
        "gain_multi_over_tcp_overall": (by_link_down + by_rtt + by_bandwidth) / 3,
        "gain_multi_over_tcp_and_single_average": over_tcp_and_single(cells),
        "gain_tcp_over_multi_without_link_down": gain(
            table6(cells, "tcp", [0.0]), table6(cells, "sctp_multi", [0.0])
        ),
        **{name: np.array([float(number)]) for name, number in settings.items()},
    }


def claims(cells: Cells) -> Iterator[Claim]:
    """Yield the claims that are computations; the others are in `study.yaml`."""
    yield from without_outage(cells)
    yield from with_outage(cells)
    yield window.claim(cells)
    yield from growth(cells)
    yield from averages(cells)
    yield from excerpts.claims(cells)


def pairs(cells: Cells, ours: str, other: str, *, outage: bool) -> list[tuple[Cell, Samples]]:
    """Return the gain of one protocol over another [%] in every cell with (or without) an outage."""
    found = []
    for cell in cells.where(protocol=ours):
        if (cell["link_down_s"] > 0) == outage:
            twin = cells.one(**{**cell.conditions, "protocol": other})
            found.append((cell, gain(cells.samples("throughput", cell), cells.samples("throughput", twin))))
    return found


def least(found: list[tuple[Cell, Samples]]) -> Samples:
    """Return the smallest gain over the cells, for each replication."""
    return over(np.min, [samples for _, samples in found])


def short(cell: Cell) -> str:
    """Return the cell as text."""
    return f"{cell['link_down_s']:g} s down, {cell['bandwidth_mbps']:g} Mbit/s, {cell['paper_rtt_ms']:g} ms"


def without_outage(cells: Cells) -> Iterator[Claim]:
    """Yield the claims of section 4.1 and figure 9: the order of the protocols without an outage."""
    lead = gain(table6(cells, "tcp", [0.0]), table6(cells, "sctp_multi", [0.0]))
    found = pairs(cells, "tcp", "sctp_multi", outage=False)
    behind = [short(cell) for cell, samples in found if samples.mean() < -0.5]
    yield Claim(
        id="A1",
        text="Without an outage TCP is ahead of SCTP, by about 2 %.",
        where="sections 4.3 and 5",
        verdict=every([shown(lead, 2), verdict(not behind)]),
        quantity="TCP over SCTP (multi), means of the 0 s rows of table 6",
        unit="%",
        samples=lead,
        published="2",
        evidence=f"TCP ahead, or within 0.5 %, in {len(found) - len(behind)} of {len(found)} cells",
    )
    yield handshake(cells)


def handshake(cells: Cells) -> Claim:
    """Return claim A3, tested with SCTP that starts earlier, so that its longer handshake has no effect."""
    early = cells.varied("early")
    conditions = {**BASE, "link_down_s": 0.0, "sim_time_s": 5.0}
    tcp = cells.one(protocol="tcp", **conditions).out(Out.DELIVERED)
    late = cells.one(protocol="sctp_single", **conditions).out(Out.DELIVERED)
    starts = sorted(early.all, key=lambda cell: float(cell["early"]))
    level = starts[0].out(Out.DELIVERED)[: len(tcp)]
    n = len(level)
    closed = 100 * (level - late[:n]) / (tcp[:n] - late[:n])
    return Claim(
        id="A3",
        text="TCP is ahead after 5 s because its handshake takes three messages and SCTP's four.",
        where="section 4.1",
        verdict=inside(estimate(closed), least=50),
        expected="not held",
        quantity="share of TCP's lead that goes if SCTP starts a round trip earlier",
        unit="%",
        samples=closed,
        evidence=f"TCP delivers {tcp.mean():.0f} packets in 5 s, SCTP {late.mean():.0f}, and "
        f"{level.mean():.0f} if its association starts at {starts[0]['early']:g} s instead of 0.5 s, one "
        "round trip earlier (half of the lead is required). The rest is the slower growth of the window, "
        "because SACKs acknowledge every second packet",
    )


def with_outage(cells: Cells) -> Iterator[Claim]:
    """Yield the claims of sections 4.2 to 4.4: the order of the protocols with an outage."""
    for id_, other, name in (("B1", "tcp", "TCP"), ("B2", "sctp_single", "SCTP (single)")):
        found = pairs(cells, "sctp_multi", other, outage=True)
        behind = [short(cell) for cell, samples in found if positive(estimate(samples)) != "held"]
        rest = [(cell, samples) for cell, samples in found if short(cell) not in behind]
        yield Claim(
            id=id_,
            text=f"With an outage SCTP (multi) delivers more than {name} almost everywhere.",
            where="sections 4.2 to 4.4",
            verdict=verdict(len(behind) <= 1),
            quantity="smallest gain over the other cells" if behind else "smallest gain over the cells",
            unit="%",
            samples=least(rest),
            evidence=f"ahead in {len(rest)} of {len(found)} cells"
            + (f"; not at {'; '.join(behind)}" if behind else ""),
        )
    yield from single_beside_tcp(cells)


def single_beside_tcp(cells: Cells) -> Iterator[Claim]:
    """Yield the claims of sections 4.2 and 5: SCTP over one path and TCP, cell by cell and on average."""
    both = ("sctp_single", "tcp")
    found = pairs(cells, *both, outage=True)
    apart = {short(cell): estimate(samples) for cell, samples in found}
    value = printed(cells.study)

    def lead_in_print(cell: Cell) -> float:
        ours, other = (value("utilisation", **{**cell.conditions, "protocol": p}) for p in both)
        return float(gain(ours, other)[0])

    theirs = {short(cell): lead_in_print(cell) for cell, _ in found}
    farthest = max(found, key=lambda pair: abs(float(pair[1].mean())))
    outside = [name for name, one in apart.items() if inside(one, -NOTICEABLE, NOTICEABLE) != "held"]
    yield Claim(
        id="B3",
        text="SCTP (single) and TCP do not differ noticeably.",
        where="sections 4.2 and 5",
        verdict=every(inside(one, -NOTICEABLE, NOTICEABLE) for one in apart.values()),
        own=verdict(all(abs(one) <= NOTICEABLE for one in theirs.values())),
        expected="not held",
        quantity=f"SCTP (single) over TCP where they differ most ({short(farthest[0])})",
        unit="%",
        samples=farthest[1],
        published=f"{theirs[short(farthest[0])]:.1f}",
        evidence=f"{len(outside)} of {len(found)} cells with an outage differ by more than {NOTICEABLE:g} %: "
        f"{'; '.join(f'{name} {apart[name].mean:+.1f} %' for name in outside) or 'none'}. The paper's own "
        f"table has differences of {min(theirs.values()):+.1f} to {max(theirs.values()):+.1f} %",
        changed="first judged by the mean over the cells (now B7), which hides single cells",
    )
    overall = np.mean([samples for _, samples in found], axis=0)
    yield Claim(
        id="B7",
        text="With an outage SCTP (single) is slightly ahead of TCP on average.",
        where="sections 4.2 and 5",
        verdict=inside(estimate(overall), 0, NOTICEABLE),
        own=verdict(bool(0 <= np.mean([*theirs.values()]) <= NOTICEABLE)),
        quantity="SCTP (single) over TCP, mean of the cells with an outage",
        unit="%",
        samples=overall,
        published=f"{np.mean([*theirs.values()]):.1f}",
        evidence=f"a mean of 0 to {NOTICEABLE:g} % counts as slightly ahead",
    )


def growth(cells: Cells) -> Iterator[Claim]:
    """Yield the claims of sections 4.3 and 4.4: lead of SCTP (multi) over TCP against RTT and bandwidth."""
    for id_, text, where, values, column, unit, sign in (
        ("C3", "The shorter the RTT, the further SCTP (multi) is ahead of TCP (10 s down).",
         "section 4.3", RTT, "paper_rtt_ms", "ms", -1),
        ("C5", "The larger the bandwidth, the further SCTP (multi) is ahead of TCP in per cent (10 s down).",
         "section 4.4, table 7", BANDWIDTH, "bandwidth_mbps", "Mbit/s", 1),
    ):  # fmt: skip
        at = [{**BASE, "link_down_s": 10.0, column: value} for value in values]
        ours, theirs = (
            [gain(*(value("utilisation", protocol=p, **c) for p in ("sctp_multi", "tcp"))) for c in at]
            for value in (cells.value, printed(cells.study))
        )
        least, least_printed = (over(np.min, list(sign * np.diff(gains, axis=0))) for gains in (ours, theirs))
        yield Claim(
            id=id_,
            text=text,
            where=where,
            verdict=positive(estimate(least)),
            own=verdict(bool(least_printed[0] > 0)),
            expected="not held",
            quantity="smallest growth of the lead from one value to the next",
            unit="percentage points",
            samples=least,
            published=f"{least_printed[0]:.1f}",
            evidence=f"ahead by {said(ours)} % at {', '.join(f'{v:g}' for v in values)} {unit}. The paper's "
            f"own table: {said(theirs)} %",
        )
    yield growth_in_bytes(cells)
    yield best_use(cells)


def growth_in_bytes(cells: Cells) -> Claim:
    """Return claim C4 in the unit of figure 10, byte/s, with the range that the rounded printed values
    allow."""
    at = [{**BASE, "link_down_s": 10.0, "bandwidth_mbps": value} for value in BANDWIDTH]
    leads = [
        cells.value("throughput", protocol="sctp_multi", **c) - cells.value("throughput", protocol="tcp", **c)
        for c in at
    ]
    steps = [b - a for a, b in itertools.pairwise(leads)]
    least = min(steps, key=lambda step: float(step.mean()))
    allowed = printed_range(cells.study)
    lows, highs = [], []
    for c in at:
        multi, tcp = (allowed("utilisation", protocol=p, **c) for p in ("sctp_multi", "tcp"))
        lows.append((multi[0] - tcp[1]) * c["bandwidth_mbps"] * 1e6)
        highs.append((multi[1] - tcp[0]) * c["bandwidth_mbps"] * 1e6)
    ranges = list(zip(lows, highs, strict=True))
    grows = [range_positive(b[0] - a[1], b[1] - a[0]) for a, b in itertools.pairwise(ranges)]
    return Claim(
        id="C4",
        text="The larger the bandwidth, the further SCTP (multi) is ahead of TCP in byte/s (10 s down).",
        where="section 4.4, figure 10",
        verdict=all_positive(steps),
        own=every(grows),
        quantity="smallest growth of the lead from one bandwidth to the next",
        unit="byte/s",
        samples=least,
        evidence=f"ahead by {said(leads, 0)} byte/s at {', '.join(f'{v:g}' for v in BANDWIDTH)} Mbit/s. "
        "The paper's table times the bandwidth allows "
        + ", ".join(f"{low:.0f} to {high:.0f}" for low, high in zip(lows, highs, strict=True))
        + " byte/s, because its three digits are rounded",
        changed="first judged by the relative lead alone (now C5); figure 10 plots byte/s",
    )


def range_positive(least: float, most: float) -> Verdict:
    """Return the verdict on the claim that a growth within this range is positive."""
    return "held" if least > 0 else "not held" if most <= 0 else "undecided"


def best_use(cells: Cells) -> Claim:
    """Return claim C6: the bandwidths that SCTP over two paths uses best."""
    down: dict[str, Value] = {"protocol": "sctp_multi", **BASE, "link_down_s": 10.0}
    used = {value: cells.value("utilisation", **{**down, "bandwidth_mbps": value}) for value in BANDWIDTH}
    in_print = printed(cells.study)
    theirs = {
        value: float(in_print("utilisation", **{**down, "bandwidth_mbps": value})[0]) for value in BANDWIDTH
    }
    best, rest = (0.5, 1.0), (0.1, 5.0, 10.0)
    margin = over(np.min, [used[v] for v in best]) - over(np.max, [used[v] for v in rest])
    return Claim(
        id="C6",
        text="SCTP (multi) uses the link best at 0.5 and 1 Mbit/s (10 s down).",
        where="section 4.4",
        verdict=positive(estimate(margin)),
        own=verdict(min(theirs[v] for v in best) > max(theirs[v] for v in rest)),
        quantity="smaller of both less the largest of the others, in utilisation",
        samples=margin,
        evidence=f"{said(used.values(), 3)} at {', '.join(f'{v:g}' for v in BANDWIDTH)} Mbit/s; in print "
        f"{', '.join(f'{v:.3f}' for v in theirs.values())}",
    )


def averages(cells: Cells) -> Iterator[Claim]:
    """Yield the claims of section 5 on average gains."""
    ours = summaries(cells)
    by_rtt = ours["gain_multi_over_tcp_by_rtt"]
    yield Claim(
        id="D2",
        text="By the RTT, SCTP (multi) is 27 % above TCP.",
        where="section 5",
        verdict=shown(by_rtt, 27),
        quantity="average gain",
        unit="%",
        samples=by_rtt,
        published="27",
        evidence="means of the 10 s rows of table 6, cut off",
    )
    tens, all_ = ([0.0, 10.0][i:] for i in (1, 0))
    readings = [
        float(gain(table7(cells, "sctp_multi", d), table7(cells, "tcp", d)).mean()) for d in (tens, all_)
    ]
    in_bytes, least, most = throughput_gain(cells)
    overall, both = (ours[f"gain_multi_over_tcp_{name}"] for name in ("overall", "and_single_average"))
    yield Claim(
        id="D4",
        text="Overall, SCTP (multi) is 18 % above TCP.",
        where="section 5",
        verdict="not testable",
        expected="not testable",
        quantity="one reading: mean of D1, D2 and the gain in the 10 s rows of table 7",
        unit="%",
        samples=overall,
        published="18",
        evidence="the paper's 18 is the mean of its 18, 27 and 9, and the 9 cannot be derived (D3); with the "
        "10 s rows of table 7 instead, the paper's own tables give 21.1 %",
    )
    yield Claim(
        id="D5",
        text="SCTP (multi) is 12 % above TCP and SCTP (single).",
        where="section 5",
        verdict="not testable",
        expected="not testable",
        quantity="one reading: over the mean of both, averaged over tables 5, 6 and 7",
        unit="%",
        samples=both,
        published="12",
        evidence="the paper does not say how; this reading gives 11.6 % with the paper's own values",
    )
    yield Claim(
        id="D3",
        text="By the bandwidth, SCTP (multi) is 9 % above TCP.",
        where="sections 4.4 and 5",
        verdict="not testable",
        expected="not testable",
        published="9",
        evidence=(
            f"the paper does not say which rows of table 7 it averages. With simulated values, the 10 s rows "
            f"give {readings[0]:.1f} % in mean utilisation and all rows {readings[1]:.1f} % (in print 16.9 "
            "and 6.9 %). In mean throughput over all rows, including 0 s as in D1, the simulation gives "
            f"{in_bytes:.1f} %, and the rounded numbers of the paper allow {least:.1f} to {most:.1f} %, "
            "which includes 9 %"
        ),
    )


def throughput_gain(cells: Cells) -> tuple[float, float, float]:
    """Return the gain of SCTP (multi) over TCP in mean throughput over all rows of table 7 [%].

    Returns the simulated gain, and the smallest and the largest gain that the printed digits of the
    utilisation allow.
    """
    allowed = printed_range(cells.study)
    ours: list[float] = []
    bounds: list[tuple[float, float]] = []
    for protocol in ("sctp_multi", "tcp"):
        rows = cells.where(protocol=protocol, sim_time_s=100.0, paper_rtt_ms=200.0, link_down_s=[0.0, 10.0])
        ours.append(float(np.mean([cells.samples("throughput", cell).mean() for cell in rows])))
        found = [(cell["bandwidth_mbps"], allowed("utilisation", **cell.conditions)) for cell in rows]
        low, high = (float(np.mean([rate * ends[k] for rate, ends in found])) for k in (0, 1))
        bounds.append((low, high))
    multi, tcp = bounds
    return tuple(100 * (a / b - 1) for a, b in (ours, (multi[0], tcp[1]), (multi[1], tcp[0])))  # type: ignore[return-value]
