"""Claims of the link-down study on its trace excerpts: figures 7 and 8, and table 4."""

from collections.abc import Iterator

import numpy as np

from netcarlo.kernels.base.layout import EVENT_RECEIVE, EVENT_SEND, Trace
from netcarlo.kernels.base.parameters import ReliableP, RowP, SctpP, TcpP
from netcarlo.kernels.sctp.state import COOKIE_BYTES, HEARTBEAT_BYTES, INIT_BYTES
from netcarlo.studies import judging
from netcarlo.studies.cells import NS, Cell, Cells, Samples, estimate
from netcarlo.studies.claims import Claim, inside, verdict
from netcarlo.studies.sctp_linkdown.metrics import METRICS, PACKET, heartbeat_path


def claims(cells: Cells) -> Iterator[Claim]:
    """Yield claim E1 on the first retransmissions, and claim E2 on the path of a heartbeat."""
    yield restart(cells)
    yield heartbeats(cells)


def excerpt(cells: Cells, metric: str, protocol: str) -> float:
    """Return a printed number of the run in figures 7 and 8 and table 4."""
    return float(judging.printed(cells.study)(metric, protocol=protocol, link_down_s=10.0)[0])


def simulated(cells: Cells, protocol: str) -> Cell:
    """Return the simulated cell of the run in figures 7 and 8 and table 4."""
    return cells.one(
        protocol=protocol, link_down_s=10.0, bandwidth_mbps=0.5, paper_rtt_ms=200.0, sim_time_s=100.0
    )


def restart(cells: Cells) -> Claim:
    """Return claim E1: the printed times of the first retransmission match neither a timer nor the paper's
    numbers."""
    tcp, single, multi = (simulated(cells, protocol) for protocol in ("tcp", "sctp_single", "sctp_multi"))

    def later(metric: str, cell: Cell) -> Samples:
        """Return the printed time minus the simulated one [s]."""
        return excerpt(cells, metric, cell["protocol"]) - cells.samples(metric, cell)

    shift = later("retransmission_enqueued", tcp)
    of_multi = later("retransmission_enqueued_alternate_path", multi)
    figure8 = later("tsn2412_received", multi)
    after_up = "retransmission_sent_after_link_up"
    wait_s = excerpt(cells, "retransmission_enqueued", "tcp") - excerpt(cells, "last_ack_before_down", "tcp")
    less, printed = (
        " and ".join(f"{values:.0f}" for values in both)
        for both in (
            [delivered_if_later(cell, float(shift.mean())) for cell in (tcp, multi)],
            [excerpt(cells, "throughput", name) for name in ("tcp", "sctp_multi")],
        )
    )
    return Claim(
        id="E1",
        text="The first packet after the outage leaves at 67.042 s (TCP), at 51.467 s (SCTP multi) and 6.4 s "
        "after link-up (SCTP single).",
        where="figure 7, table 4",
        verdict=inside(estimate(shift), -0.1, 0.1),
        own=verdict(bool(abs(figure8.mean() - of_multi.mean()) < 0.1)),
        expected="not held",
        quantity="printed minus simulated time, TCP",
        unit="s",
        samples=shift,
        evidence=f"the printed time of SCTP (multi) is {of_multi.mean():.3f} s later too, and that of SCTP "
        f"(single) is {excerpt(cells, after_up, 'sctp_single'):g} s instead of "
        f"{cells.samples(after_up, single).mean():.2f} + 0.4 s: the same constant after waits of 15, 1 and "
        f"15 RTOs, so no RTO. TCP's wait since the last ACK, {wait_s:.2f} s, is {rtos(tcp, wait_s)}. "
        f"{shift.mean():.1f} s more of silence would give {less} byte/s (TCP and multi), but {printed} are "
        f"printed. TSN 2412 of figure 8 arrives within {abs(figure8.mean()) * 1e3:.2f} ms of the simulated "
        "time",
    )


def rtos(tcp: Cell, wait_s: float) -> str:
    """Return the RTO for which the n-th timeout, with doubling, occurs `wait_s` after the last ACK, as
    text."""
    tick_s = tcp.parameter(TcpP.TICK) * NS
    rtt_s = tcp.parameter(RowP.WINDOW) * PACKET * 8 / (tcp["bandwidth_mbps"] * 1e6)
    ticks = {n: wait_s / tick_s / n for n in (1, 3, 7, 15, 31)}
    whole = [f"{n} of {k * tick_s:g} s" for n, k in ticks.items() if abs(k - round(k)) < 1e-3]
    return (
        f"15 RTOs of {ticks[15]:.1f} ticks, and an RTO is whole ticks ({' or '.join(whole)} would be, but "
        f"the round trip is {rtt_s:.2f} s)"
    )


def delivered_if_later(cell: Cell, shift_s: float) -> float:
    """Return the throughput if all packets after the outage arrived `shift_s` later [byte/s]."""
    end_s = cell.parameter(RowP.END) * NS
    arrivals = cell.trace()[cell.trace()[:, Trace.EVENT] == EVENT_RECEIVE]
    missing = int(np.sum(arrivals[:, Trace.TIME] > end_s - shift_s))
    return float(METRICS["throughput"](cell)[0] * (1 - missing / cell.outcome("delivered")[0]))


def heartbeats(cells: Cells) -> Claim:
    """Return claim E2: the path of the heartbeat in figure 8, and the reason for its time."""
    cell = simulated(cells, "sctp_multi")
    path, found = heartbeat_path(cell), cells.samples("heartbeat_received", cell)
    printed, answer, before, after = (
        excerpt(cells, name, "sctp_multi")
        for name in ("heartbeat_received", "heartbeat_ack_received", "tsn2448_received", "tsn2449_received")
    )
    gaps_s = np.array([answer - before, after - answer])
    one_link = np.array([HEARTBEAT_BYTES, PACKET]) * 8 / (cell["bandwidth_mbps"] * 1e6)
    drawn, answered = ns2_heartbeat(cell)
    return Claim(
        id="E2",
        text="After link-up a heartbeat of the receiver on the primary path reports that the path is back.",
        where="section 4.2, figure 8",
        verdict=inside(estimate(path == 0), least=90),
        own=verdict(not np.allclose(gaps_s, one_link, atol=2e-6)),
        expected="not held",
        quantity="runs in which the heartbeat is on the alternate path",
        unit="%",
        samples=path == 1,
        evidence="the receiver probes the path that it has not used for the longest time, and it had probed "
        f"the primary path before. The same in print: the answer arrives {gaps_s[0] * 1e3:.3f} ms after TSN "
        f"2448 and {gaps_s[1] * 1e3:.0f} ms before TSN 2449, like {HEARTBEAT_BYTES} byte in the queue "
        f"between them. The two waits before the heartbeat are random: it arrives at {found.min():.1f} to "
        f"{found.max():.1f} s in {len(found)} simulated runs, and at {printed:.6f} s in print. With the "
        f"random numbers of ns-2's default seed it arrives at {drawn:.6f} s, its answer at {answered:.4f} s "
        f"({answer:.4f} in print)",
    )


def ns2_heartbeat(cell: Cell) -> tuple[float, float]:
    """Return the arrival times of the heartbeat and its answer with the random numbers of ns-2 [s].

    The default generator of ns-2 with its default seed of 1 is used by the receiver, by the sender 0.2 s
    later, and by the receiver again when its first heartbeat is due. So the receiver has draws 1 and 3.
    """
    byte_s, delay_s = 8 / (cell["bandwidth_mbps"] * 1e6), cell["paper_rtt_ms"] * 1e-3
    established_s = cell.parameter(RowP.START) * NS + 3 * delay_s + (2 * INIT_BYTES + COOKIE_BYTES) * byte_s
    interval_s, rto_s = cell.parameter(SctpP.HEARTBEAT) * NS, cell.parameter(ReliableP.INITIAL_RTO) * NS
    first, _, third = mrg32k3a(1, 3)
    sent_s = established_s + 2 * interval_s + (1 + first + third) * rto_s
    arrives_s = sent_s + delay_s + HEARTBEAT_BYTES * byte_s
    # The answer is queued behind the data that was sent on its path before it.
    events = cell.trace()[cell.trace()[:, Trace.PATH] == 1]
    sent, received = (events[events[:, Trace.EVENT] == kind] for kind in (EVENT_SEND, EVENT_RECEIVE))
    last = sent[sent[:, Trace.TIME] <= arrives_s][-1, Trace.SEQUENCE]
    ahead_s = received[received[:, Trace.SEQUENCE] == last][0, Trace.TIME]
    return arrives_s, float(ahead_s) + HEARTBEAT_BYTES * byte_s


def mrg32k3a(seed: int, n: int) -> list[float]:
    """Return the first n draws in (0, 1) of L'Ecuyer's generator MRG32k3a (1999), with all six words
    `seed`."""
    m1, m2 = 2**32 - 209, 2**32 - 22853
    a, b, found = [seed] * 3, [seed] * 3, []
    for _ in range(n):
        a = [*a[1:], (1403580 * a[1] - 810728 * a[0]) % m1]
        b = [*b[1:], (527612 * b[2] - 1370589 * b[0]) % m2]
        found.append(((a[2] - b[2]) % m1 or m1) / (m1 + 1))
    return found
