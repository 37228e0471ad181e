"""Claims of the study of TCP and UDP over a wireless distribution system (T. Kim and others, in Korean)."""

import math
from collections.abc import Iterator

import numpy as np

from netcarlo.studies.cells import Cells, Samples, estimate
from netcarlo.studies.claims import Claim, every, inside, positive, verdict
from netcarlo.studies.comparison import Summaries
from netcarlo.studies.judging import gains, said
from netcarlo.studies.wds.metrics import METRICS

__all__ = ["METRICS", "claims", "summaries"]

HOPS = (1.0, 2.0, 3.0, 4.0)

PLACES = ("lost_at_sender", "lost_at_first_relay", "lost_later")

QUEUE = 50
"""Queue of a node [packets]."""

FALLBACK = "rate fallback and its thresholds"
"""Parameters that were fitted to the losses over four hops."""

MOSTLY = 80
"""Minimum fraction of the losses that counts as most of them [%]."""


def summaries(cells: Cells) -> Summaries:
    """Return the settings that the paper states."""
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
    """Return a metric over one to four hops."""
    return [
        cells.value(metric, medium=medium, protocol=protocol, hops=hops, direction=direction) for hops in HOPS
    ]


def claims(cells: Cells) -> Iterator[Claim]:
    """Yield the claims that are computations; the others are in `study.yaml`."""
    yield over_hops(cells)
    yield variation(cells)
    yield where_tcp_loses(cells)


def exclusion(cells: Cells) -> str:
    """Return sentences on why W7 and W11 cannot both hold, from the variation of the window."""
    windows = cells.varied("window").where(hops=4.0, direction="up")
    at = {float(cell["window"]): cell for cell in windows}
    udp = float(line(cells, "throughput", "udp_20")[3].mean())
    samples = cells.varied("window").samples
    ahead = [size for size, cell in at.items() if samples("throughput", cell).mean() > udp]
    lossy = [size for size, cell in at.items() if any(samples(place, cell).any() for place in PLACES)]
    sizes = ", ".join(f"{size:g}" for size in sorted(at))
    rates = ", ".join(f"{samples('throughput', at[size]).mean():.2f}" for size in sorted(at))
    return (
        f"W7 and W11 exclude each other in the model: with windows of {sizes} packets TCP delivers {rates} "
        f"Mbit/s over four hops, UDP at 20 Mbit/s {udp:.2f}. TCP is ahead up to a window of "
        f"{max(ahead, default=0):g}, and loses packets from {min(lossy, default=math.nan):g} on. That the "
        "paper reports both means that the model lacks a mechanism, such as frames lost to noise"
    )


def where_tcp_loses(cells: Cells) -> Claim:
    """Return claim W11, tested with the study's window and with the largest window of the variation."""
    lost = np.sum([line(cells, place, "tcp")[3] for place in PLACES], axis=0)
    large = cells.varied("large_window")
    window = max(float(cell["large_window"]) for cell in large.all)
    early = []
    for direction in ("up", "down"):
        cell = large.one(hops=4.0, direction=direction, large_window=window)
        parts = [large.samples(place, cell).sum() for place in PLACES]
        early.append(100 * (parts[0] + parts[1]) / sum(parts))
    return Claim(
        id="W11",
        text="TCP loses packets, mostly at the source and the first relay.",
        where="section 4.1",
        verdict=every([positive(estimate(lost)), *(verdict(bool(share >= MOSTLY)) for share in early)]),
        expected="not held",
        quantity="lost over four hops, of the packets sent",
        unit="%",
        samples=lost,
        evidence=f"the study's window is below the queue of {QUEUE} packets, and no frame reaches its retry "
        f"limit. With {window:g} packets, at a fixed rate, queues overflow: the source and the first relay "
        f"have {said(early, 0)} % of the losses over four hops, up and down. {exclusion(cells)}",
    )


def over_hops(cells: Cells) -> Claim:
    """Return claim W7, with the reason why it excludes W11."""
    tcp, udp = line(cells, "throughput", "tcp"), line(cells, "throughput", "udp_20")
    lead = gains(tcp, udp)
    return Claim(
        id="W7",
        text="With 20 Mbit/s offered, TCP delivers more than UDP over many hops, UDP at least as much "
        "over one.",
        where="section 4.3, figure 7",
        verdict=every([positive(estimate(lead[3])), inside(estimate(lead[0]), most=0)]),
        quantity="TCP over UDP at four hops",
        unit="%",
        samples=lead[3],
        evidence=f"TCP {said(tcp)}, UDP {said(udp)} Mbit/s over 1 to 4 hops. {exclusion(cells)}",
        fitted=f"{FALLBACK} and the TCP window",
    )


def variation(cells: Cells) -> Claim:
    """Return claim W10, evaluated at the number of hops at which each transport varies most."""

    def squares(protocol: str) -> Samples:
        """Return the contribution of each run to the squared coefficient of variation."""
        lines = line(cells, "throughput", protocol)
        found: list[Samples] = [(one / one.mean() - 1) ** 2 * len(one) / (len(one) - 1) for one in lines]
        return max(found, key=lambda one: float(one.mean()))

    names = {"tcp": "TCP", "udp_10": "UDP at 10", "udp_20": "UDP at 20 Mbit/s"}
    found = {protocol: squares(protocol) for protocol in names}
    more = max((found["udp_10"], found["udp_20"]), key=lambda one: float(one.mean())) - found["tcp"]
    return Claim(
        id="W10",
        text="UDP varies more from run to run than TCP.",
        where="sections 4.2 and 5",
        verdict=positive(estimate(more)),
        quantity="UDP's largest variance over 1 to 4 hops less TCP's, of the squared means",
        unit="% of a %",
        samples=1e4 * more,
        evidence="largest standard deviation over 1 to 4 hops, of the mean: "
        + ", ".join(f"{name} {100 * found[key].mean() ** 0.5:.1f} %" for key, name in names.items())
        + "; simulated runs differ only in their random numbers, those of the paper also in time and place",
    )
