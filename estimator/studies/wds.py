"""Claims of the study of TCP and UDP over a wireless distribution system (T. Kim and others, in Korean)."""

import itertools
from collections.abc import Iterator, Sequence

import numpy as np

from netcarlo.cells import Cells, Samples
from netcarlo.claims import Claim, verdict
from netcarlo.comparison import Summaries
from netcarlo.statistics import mean
from netcarlo.studies.wds_metrics import METRICS

__all__ = ["METRICS", "claims", "summaries"]

HOPS = (1.0, 2.0, 3.0, 4.0)

QUEUE = 50
"""Packets that a node holds."""

SAME = 0.5
"""Directions that differ by less are alike [%]."""


def summaries(cells: Cells) -> Summaries:
    """The settings that the paper states."""
    wireless = cells.one(medium="wireless", protocol="tcp", hops=4.0, direction="up").scenario
    wired = cells.one(medium="wired", protocol="tcp", hops=4.0, direction="up").scenario
    assert wireless.wireless is not None
    settings = {
        "phy_rate_max": max(wireless.wireless.known_rates) / 1e6,
        "wired_rate": float(wired.paths[0].hops[-1].rate) / 1e6,  # type: ignore[union-attr,arg-type]
        "hops_max": max(cell["hops"] for cell in cells.all),
        "transfer_size": float(wireless.transport.bytes or 0.0) / 2**20,  # type: ignore[arg-type]
    }
    return {name: np.array([value]) for name, value in settings.items()}


def line(
    cells: Cells, metric: str, protocol: str, *, medium: str = "wireless", direction: str = "up"
) -> list[Samples]:
    """A metric over one to four hops."""
    return [
        cells.value(metric, medium=medium, protocol=protocol, hops=hops, direction=direction) for hops in HOPS
    ]


def said(values: Sequence[Samples], digits: int = 1) -> str:
    """The means of some samples in a line."""
    return ", ".join(f"{float(np.mean(one)):.{digits}f}" for one in values)


def falling(values: Sequence[Samples], *, slack: float = 0.0) -> bool:
    """True if no mean is above the one before by more than the share `slack`."""
    means = [float(np.mean(one)) for one in values]
    return all(b <= a * (1 + slack) for a, b in itertools.pairwise(means))


def claims(cells: Cells) -> Iterator[Claim]:
    """What the paper claims, each with the evidence."""
    yield from of_tcp(cells)
    yield from of_udp(cells)
    yield from of_both(cells)


def of_tcp(cells: Cells) -> Iterator[Claim]:
    """Section 4.1: figures 3 and 4."""
    wired, wireless = line(cells, "throughput", "tcp", medium="wired"), line(cells, "throughput", "tcp")
    change = 100 * (np.max(wired, axis=0) / np.min(wired, axis=0) - 1)
    yield Claim(
        id="W1",
        text="Over cables TCP does not depend on the number of routers.",
        where="section 4.1, figure 3",
        verdict=verdict(bool(change.mean() <= 2)),
        quantity="most over least, 1 to 4 hops",
        unit="%",
        samples=change,
        evidence=f"{said(wired, 2)} Mbit/s over 1 to 4 hops (2 % count as no change)",
    )
    steps = np.min([100 * (1 - b / a) for a, b in itertools.pairwise(wireless)], axis=0)
    most = float(np.mean(wireless[0]) / np.mean(wired[0]))
    yield Claim(
        id="W2",
        text="Over radio TCP falls with every hop, and is far below cables.",
        where="section 4.1, figure 3",
        verdict=verdict(mean(steps).ci_low > 0 and most < 0.5),
        quantity="smallest fall from one number of hops to the next",
        unit="%",
        samples=steps,
        evidence=f"{said(wireless)} Mbit/s over 1 to 4 hops, against {np.mean(wired):.1f} over cables",
    )
    yield directions(cells)


def directions(cells: Cells) -> Claim:
    """W3, also as the paper explains it: windows above the gateway's queue, a station that waits for room."""
    up, down = (line(cells, "throughput", "tcp", direction=direction) for direction in ("up", "down"))
    lead = [100 * (a / b - 1) for a, b in zip(up, down, strict=True)]
    large = cells.varied("large_window")
    windows = sorted({float(cell["large_window"]) for cell in large.all})

    def gap(window: float, hops: float) -> Samples:
        a, b = (
            large.value("throughput", medium="wireless", protocol="tcp", hops=hops, direction=direction,
                        large_window=window)
            for direction in ("up", "down")
        )  # fmt: skip
        return 100 * (a / b - 1)

    gaps = {window: [gap(window, hops) for hops in HOPS] for window in windows}
    above = [gaps[window] for window in windows if window > QUEUE]
    reading = all(np.mean(one) > 0 and np.min(np.mean(one, axis=1)) > -SAME for one in above)
    return Claim(
        id="W3",
        text="The station sends faster to the server than the server to the station.",
        where="section 4.1, figure 4",
        verdict=verdict(reading),
        quantity=f"up over down with a window of {windows[-1]:g}, mean over 1 to 4 hops",
        unit="%",
        samples=np.mean(gaps[windows[-1]], axis=0),
        evidence=f"judged by the paper's own reason, an overflow of the gateway's queue of {QUEUE} packets "
        "where the station waits for room, at a fixed rate: "
        + "; ".join(f"window {window:g}: {said(one)} %" for window, one in gaps.items())
        + ". The sign is that of the paper, the size is hardly worth a figure. With the study's window "
        f"and rate fallback {said(lead)} %",
    )


def of_udp(cells: Cells) -> Iterator[Claim]:
    """Section 4.2: figures 5 and 6."""
    slow, fast = (line(cells, "loss_percent", f"udp_{rate}") for rate in (10, 20))
    arrived = line(cells, "throughput", "udp_10")
    yield Claim(
        id="W4",
        text="UDP at 10 Mbit/s loses nothing over cables, and almost nothing over one hop of radio.",
        where="section 4.2, figures 5 and 6",
        verdict=verdict(bool(slow[0].mean() <= 1)),
        quantity="lost over one hop of radio",
        unit="%",
        samples=slow[0],
        published="0",
        evidence="over cables derived, not simulated: a tenth of what the slowest carries comes at equal "
        "intervals and never waits",
    )
    yield Claim(
        id="W5",
        text="UDP at 10 Mbit/s delivers less with more hops; at four about 70 % or more is lost.",
        where="section 4.2, figures 5 and 6",
        verdict=verdict(falling(arrived, slack=0.001) and bool(slow[3].mean() >= 70)),
        quantity="lost over four hops",
        unit="%",
        samples=slow[3],
        published="70",
        evidence=f"{said(arrived)} Mbit/s arrive over 1 to 4 hops, {said(slow)} % are lost",
    )
    rest = line(cells, "throughput", "udp_20")[3]
    yield Claim(
        id="W6",
        text="UDP at 20 Mbit/s loses about 90 % or more over four hops.",
        where="section 4.2",
        verdict=verdict(bool(rest.mean() <= 2.3 and arrived[3].mean() <= 3)),
        quantity="lost over four hops",
        unit="%",
        samples=fast[3],
        published="90",
        evidence=f"{rest.mean():.2f} Mbit/s arrive (at most 2.3 count), and {arrived[3].mean():.2f} of 10 "
        f"Mbit/s (at most 3); over 1 to 4 hops {said(fast)} % are lost",
    )


def of_both(cells: Cells) -> Iterator[Claim]:
    """Sections 4.2 and 4.3: figures 7 and 8, and where losses sit."""
    tcp, udp = line(cells, "throughput", "tcp"), line(cells, "throughput", "udp_20")
    lead = [100 * (a / b - 1) for a, b in zip(tcp, udp, strict=True)]
    yield Claim(
        id="W7",
        text="With 20 Mbit/s offered, TCP delivers more than UDP over many hops, UDP at least as much "
        "over one.",
        where="section 4.3, figure 7",
        verdict=verdict(lead[3].mean() > 0 and lead[0].mean() <= 0),
        quantity="TCP over UDP at four hops",
        unit="%",
        samples=lead[3],
        evidence=f"TCP {said(tcp)}, UDP {said(udp)} Mbit/s over 1 to 4 hops",
    )
    yield where_lost(cells)
    times = line(cells, "transfer_time", "tcp")
    sources = line(cells, "transfer_time", "udp_20")
    later = [a - b for a, b in zip(times, sources, strict=True)]
    yield Claim(
        id="W9",
        text="The time for 100 MB grows with the hops, and TCP takes longer than UDP.",
        where="section 4.3, figure 8",
        verdict=verdict(falling(times[::-1]) and all(one.mean() > 0 for one in later)),
        quantity="TCP longer at four hops",
        unit="s",
        samples=later[3],
        evidence=f"TCP {said(times)} s over 1 to 4 hops; the source of UDP is done after {said(sources)} "
        "s, whatever becomes of its datagrams",
    )
    spread = {
        protocol: [
            100 * float(np.std(one, ddof=1) / np.mean(one)) for one in line(cells, "throughput", protocol)
        ]
        for protocol in ("tcp", "udp_10", "udp_20")
    }
    largest = {protocol: max(values) for protocol, values in spread.items()}
    yield Claim(
        id="W10",
        text="UDP varies more from run to run than TCP.",
        where="sections 4.2 and 5",
        verdict=verdict(max(largest["udp_10"], largest["udp_20"]) > largest["tcp"]),
        evidence="largest standard deviation over 1 to 4 hops, of the mean: "
        + ", ".join(f"{name} {largest[key]:.1f} %" for key, name in (
            ("tcp", "TCP"), ("udp_10", "UDP at 10"), ("udp_20", "UDP at 20 Mbit/s")))
        + "; runs here differ by their random numbers only, the paper's by the day and the place as well",
    )  # fmt: skip


def where_lost(cells: Cells) -> Claim:
    """W8."""
    found = {}
    for protocol in ("udp_10", "udp_20"):
        places = ("lost_at_sender", "lost_at_first_relay", "lost_later")
        parts = [line(cells, place, protocol)[3] for place in places]
        found[protocol] = [100 * part / np.sum(parts, axis=0) for part in parts]
    early = {protocol: parts[0] + parts[1] for protocol, parts in found.items()}
    return Claim(
        id="W8",
        text="Datagrams are lost mostly at the source and the first relay, few later.",
        where="sections 4.1 and 4.2",
        verdict=verdict(all(one.mean() >= 80 for one in early.values())),
        quantity="of the losses of UDP at 20 Mbit/s over four hops",
        unit="%",
        samples=early["udp_20"],
        evidence="at the source, the first relay and later: "
        + "; ".join(f"UDP at {key[4:]} Mbit/s {said(parts)} %" for key, parts in found.items()),
    )
