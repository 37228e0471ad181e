"""Claims of the study of TCP and UDP over a wireless distribution system (T. Kim and others, in Korean)."""

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from netcarlo.studies.cells import Cells, Samples, estimate
from netcarlo.studies.claims import Claim, every, inside, positive, verdict
from netcarlo.studies.comparison import Summaries
from netcarlo.studies.judging import all_positive, gain, gains, said
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
    """Yield the claims of the paper with their evidence."""
    yield from of_tcp(cells)
    yield from of_udp(cells)
    yield from of_both(cells)


def of_tcp(cells: Cells) -> Iterator[Claim]:
    """Yield the claims of section 4.1 on figures 3 and 4."""
    wired, wireless = line(cells, "throughput", "tcp", medium="wired"), line(cells, "throughput", "tcp")
    change = gain(np.max(wired, axis=0), np.min(wired, axis=0))
    yield Claim(
        id="W1",
        text="Over cables TCP does not depend on the number of routers.",
        where="section 4.1, figure 3",
        verdict=inside(estimate(change), most=2),
        quantity="most over least, 1 to 4 hops",
        unit="%",
        samples=change,
        evidence=f"{said(wired, 2)} Mbit/s over 1 to 4 hops (up to 2 % counts as no change)",
    )
    steps = np.min([100 * (1 - b / a) for a, b in itertools.pairwise(wireless)], axis=0)
    most = float(np.mean(wireless[0]) / np.mean(wired[0]))
    yield Claim(
        id="W2",
        text="Over radio TCP falls with every hop, and is far below cables.",
        where="section 4.1, figure 3",
        verdict=every([positive(estimate(steps)), verdict(most < 0.5)]),
        quantity="smallest fall from one number of hops to the next",
        unit="%",
        samples=steps,
        evidence=f"{said(wireless)} Mbit/s over 1 to 4 hops, against {np.mean(wired):.1f} over cables",
    )
    yield directions(cells)
    yield where_tcp_loses(cells)


def directions(cells: Cells) -> Claim:
    """Return claim W3, with a test of the paper's explanation: a window above the queue of the gateway."""
    up, down = (line(cells, "throughput", "tcp", direction=direction) for direction in ("up", "down"))
    lead = gains(up, down)
    large = cells.varied("large_window")
    windows = sorted({float(cell["large_window"]) for cell in large.all})

    def gap(window: float, hops: float) -> Samples:
        a, b = (
            large.value("throughput", medium="wireless", protocol="tcp", hops=hops, direction=direction,
                        large_window=window)
            for direction in ("up", "down")
        )  # fmt: skip
        return gain(a, b)

    gaps = {window: [gap(window, hops) for hops in HOPS] for window in windows}
    return Claim(
        id="W3",
        text="The station sends faster to the server than the server to the station.",
        where="section 4.1, figure 4",
        verdict=all_positive(lead),
        expected="not held",
        changed="first expected to be undecided; over 3 and 4 hops there is no lead, significantly so with "
        "some of the seeds 1 to 25",
        quantity="up over down, mean over 1 to 4 hops",
        unit="%",
        samples=np.mean(lead, axis=0),
        evidence=f"{said(lead)} % over 1 to 4 hops. The paper's explanation is an overflow of the gateway's "
        f"queue of {QUEUE} packets, while the station waits for space. This needs windows above {QUEUE} "
        "packets, and has little effect even then: at a fixed rate "
        + "; ".join(f"window {window:g}: {said(one)} %" for window, one in gaps.items()),
    )


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


def rate_based(cells: Cells) -> Claim:
    """Return claim W13, tested with BBR: the paper proposes a rate-based transport but does not measure
    one."""
    bbr, tcp = line(cells, "throughput", "bbr"), line(cells, "throughput", "tcp")
    lead = gains(bbr, tcp)
    return Claim(
        id="W13",
        text="A rate-based transport suits the radio chain better than TCP.",
        where="section 5",
        verdict=all_positive(lead),
        expected="not held",
        quantity="BBR over TCP at four hops",
        unit="%",
        samples=lead[3],
        evidence=f"BBR {said(bbr, 2)}, TCP {said(tcp, 2)} Mbit/s over 1 to 4 hops. BBR keeps up to two "
        "bandwidth-delay products in flight, more than the study's window of TCP, so more nodes contend and "
        "rates fall back more often. Its station does not wait for space in the queue of the radio",
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


def of_udp(cells: Cells) -> Iterator[Claim]:
    """Yield the claims of section 4.2 on figures 5 and 6."""
    slow, fast = (line(cells, "loss_percent", f"udp_{rate}") for rate in (10, 20))
    arrived = line(cells, "throughput", "udp_10")
    cables = line(cells, "loss_percent", "udp_10", medium="wired")
    yield Claim(
        id="W4",
        text="UDP at 10 Mbit/s loses nothing over cables, and almost nothing over one hop of radio.",
        where="section 4.2, figures 5 and 6",
        verdict=every(inside(estimate(one), most=1) for one in (slow[0], *cables)),
        quantity="lost over one hop of radio",
        unit="%",
        samples=slow[0],
        published="0",
        evidence=f"over cables {said(cables)} % are lost over 1 to 4 hops, and "
        f"{said(line(cells, 'throughput', 'udp_10', medium='wired'), 2)} Mbit/s arrive (up to 1 % counts as "
        "nothing)",
    )
    yield Claim(
        id="W5",
        text="UDP at 10 Mbit/s delivers less with more hops; at four about 70 % or more is lost.",
        where="section 4.2, figures 5 and 6",
        verdict=every([
            inside(estimate(slow[3]), least=70),
            *(inside(estimate(gain(b, a)), most=0.1) for a, b in itertools.pairwise(arrived)),
        ]),
        quantity="lost over four hops",
        unit="%",
        samples=slow[3],
        published="70",
        evidence=f"{said(arrived)} Mbit/s arrive over 1 to 4 hops, {said(slow)} % are lost",
        fitted=FALLBACK,
    )  # fmt: skip
    rest = line(cells, "throughput", "udp_20")[3]
    yield Claim(
        id="W6",
        text="UDP at 20 Mbit/s loses about 90 % over four hops.",
        where="section 4.2",
        verdict=every([inside(estimate(rest), most=2.3), inside(estimate(arrived[3]), most=3)]),
        quantity="lost over four hops",
        unit="%",
        samples=fast[3],
        published="90",
        evidence=f"{rest.mean():.2f} Mbit/s arrive (at most 2.3 allowed), and {arrived[3].mean():.2f} of 10 "
        f"Mbit/s (at most 3 allowed); over 1 to 4 hops {said(fast)} % are lost",
        fitted=FALLBACK,
    )


def of_both(cells: Cells) -> Iterator[Claim]:
    """Yield the claims of sections 4.2 and 4.3 on figures 7 and 8, and on the places of losses."""
    tcp, udp = line(cells, "throughput", "tcp"), line(cells, "throughput", "udp_20")
    lead = gains(tcp, udp)
    yield Claim(
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
    yield where_lost(cells)
    times = line(cells, "transfer_time", "tcp")
    sources = line(cells, "transfer_time", "udp_20")
    later = [a - b for a, b in zip(times, sources, strict=True)]
    yield Claim(
        id="W9",
        text="The time for 100 MB grows with the hops, and TCP takes longer than UDP.",
        where="section 4.3, figure 8",
        verdict=every(
            positive(estimate(one)) for one in (*(b - a for a, b in itertools.pairwise(times)), *later)
        ),
        quantity="TCP longer at four hops",
        unit="s",
        samples=later[3],
        evidence=f"TCP {said(times)} s over 1 to 4 hops. UDP's {sources[0].mean():.1f} s follow from the "
        "rate of its sender, 100 MiB at 20 Mbit/s, and do not depend on losses or the number of hops",
    )
    yield steadiness(tcp, {rate: line(cells, "throughput", f"udp_{rate}") for rate in (10, 20)})
    yield variation(cells)
    yield rate_based(cells)


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


def steadiness(tcp: Sequence[Samples], udp: Mapping[int, Sequence[Samples]]) -> Claim:
    """Return claim W12: the largest fall of TCP from one number of hops to the next is smaller than that of
    UDP."""
    worst = largest_fall(tcp)
    falls = {rate: largest_fall(arrived) for rate, arrived in udp.items()}
    return Claim(
        id="W12",
        text="Over more hops the rate of TCP is steadier than that of UDP.",
        where="section 4.1",
        verdict=all_positive(fall - worst for fall in falls.values()),
        quantity="largest fall from one number of hops to the next, UDP at 20 Mbit/s less TCP",
        unit="percentage points",
        samples=falls[20] - worst,
        evidence=f"TCP {worst.mean():.0f} %, "
        + ", ".join(f"UDP at {rate} Mbit/s {fall.mean():.0f} %" for rate, fall in falls.items())
        + ". Throughput over four hops, relative to one hop: "
        + ", ".join(
            f"{name} {100 * float(np.mean(values[3]) / np.mean(values[0])):.0f} %"
            for name, values in (("TCP", tcp), *((f"UDP at {rate}", one) for rate, one in udp.items()))
        ),
    )


def largest_fall(values: Sequence[Samples]) -> Samples:
    """Return the largest fall from one value to the next [%]."""
    found: Samples = np.max([100 * (1 - b / a) for a, b in itertools.pairwise(values)], axis=0)
    return found


def where_lost(cells: Cells) -> Claim:
    """Return claim W8: places of the losses of UDP."""
    found = {}
    for protocol in ("udp_10", "udp_20"):
        parts = [line(cells, place, protocol)[3] for place in PLACES]
        found[protocol] = [100 * part / np.sum(parts, axis=0) for part in parts]
    early = {protocol: parts[0] + parts[1] for protocol, parts in found.items()}
    return Claim(
        id="W8",
        text="Datagrams are lost mostly at the source and the first relay, few later.",
        where="sections 4.1 and 4.2",
        verdict=every(inside(estimate(one), least=MOSTLY) for one in early.values()),
        quantity="of the losses of UDP at 20 Mbit/s over four hops",
        unit="%",
        samples=early["udp_20"],
        evidence="at the source, the first relay and later: "
        + "; ".join(f"UDP at {key[4:]} Mbit/s {said(parts)} %" for key, parts in found.items()),
    )
