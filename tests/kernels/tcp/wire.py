"""Connection over a scripted wire, for an association of the kernels and for its naive twin.

Packets are sent one after the other with a delay that changes at given times. The script defines which
packets are lost or destroyed, the times of outages, and the notifications of the sender. Both drivers log
every packet sent and the state of the sender after every event.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from netcarlo.kernels.base.bind import Binder
from netcarlo.kernels.base.layout import FOREVER, Out
from netcarlo.kernels.base.parameters import P, ReliableP, RowP, TcpP
from netcarlo.kernels.tcp import association, newreno, sender, slots
from netcarlo.kernels.tcp.state import Tcp
from tests.twins.outcomes import Outcomes
from tests.twins.path.engine import Rank, Simulation
from tests.twins.path.link import Packet
from tests.twins.tcp.congestion import Standard
from tests.twins.tcp.receiver import Receiver
from tests.twins.tcp.tcp import TcpSender

MS, SECOND = 10**6, 10**9
DATA, ACK, PROBE, REPLY, WINDOW, TIMER = range(6)  # kinds of rows of the log
GOOD, LOST, DESTROYED = range(3)  # fates of a packet
AIR = {DATA: 4 * MS, ACK: 1 * MS, PROBE: 1 * MS, REPLY: 1 * MS}  # time on the wire
FATES = 4096  # number of fates of a script, used cyclically

Ints = NDArray[np.int64]


class Script:
    """Behaviour of the wire: the fates of packets in each direction in turn.

    From `changes[:, 0]` on the delay is `changes[:, 1]` [ns]. Packets sent in `outages` (start, end) are
    lost. Notifications of a broken route arrive at the times `notices`.
    """

    def __init__(self, seed: int) -> None:
        rng = np.random.default_rng(seed)
        loss = rng.choice([0.0, 0.02, 0.1])
        chances = [1 - 2 * loss, loss, loss]
        self.fates = rng.choice(3, (2, FATES), p=chances).astype(np.int64)
        self.fates[1] = np.where(rng.random(FATES) < rng.choice([0, 0.05]), LOST, GOOD)
        times = np.sort(rng.integers(1, 60 * SECOND, 20))
        delays = 2 * MS * 2 ** rng.uniform(0, 7, 20)
        self.changes = np.stack([times, delays.astype(np.int64)], axis=1)
        self.changes[0, 0] = 0
        starts = np.sort(rng.integers(0, 50 * SECOND, 4))
        self.outages = np.stack([starts, starts + rng.integers(0.1 * SECOND, 6 * SECOND, 4)], axis=1)
        self.outages[rng.integers(0, 5) :] = FOREVER
        self.notices = np.sort(self.outages[:, 0] + rng.integers(0, 100 * MS, 4))
        p = np.zeros(len(P), np.int64)
        p[RowP.END] = 60 * SECOND
        p[RowP.LIMIT] = rng.choice([60, 400, 1 << 62])
        p[RowP.WINDOW] = rng.integers(3, 40)
        p[RowP.DATA], p[RowP.HEADER], p[ReliableP.ACK], p[ReliableP.SACK_BLOCK] = 1000, 40, 40, 8
        p[TcpP.HANDSHAKE] = rng.choice([0, 40])
        p[TcpP.INITIAL_WINDOW] = rng.integers(1, 5)
        p[ReliableP.INITIAL_SSTHRESH] = rng.integers(2, 40)
        p[TcpP.TICK] = rng.choice([1, 10, 100]) * MS
        p[TcpP.CLOCK_PHASE] = rng.integers(0, p[TcpP.TICK])
        p[ReliableP.MIN_RTO] = rng.choice([50, 200, 1000]) * MS
        p[ReliableP.MAX_RTO], p[ReliableP.INITIAL_RTO] = 10 * SECOND, 3 * SECOND
        p[ReliableP.DUPACKS] = 3
        p[ReliableP.ACK_EVERY], p[ReliableP.ACK_DELAY] = rng.integers(1, 3), 100 * MS
        p[RowP.RING] = 256
        self.p = p


def make_kernel(dev: Callable[[Any], Any], module: Any, control: Any) -> Any:
    """Compile `run(p, fates, changes, outages, notices, s, g, ways, log)`, which returns the rows logged."""
    tcp = Binder(dev, slots.of_sender(module, control).filled()).space(association, association.__all__)
    data_air, short_air = AIR[DATA], AIR[ACK]

    def put(
        ways: Any, way: Any, now: Any, kind: Any, number: Any, fates: Any, changes: Any, outages: Any
    ) -> None:
        # ways[way, 0]: packets sent, packets received, when the wire is free, last arrival; a row per packet.
        k = ways[way, 0, 0]
        ways[way, 0, 0] += 1
        fate = fates[way, k % FATES]
        for i in range(outages.shape[0]):
            if outages[i, 0] <= now < outages[i, 1]:
                fate = LOST
        delay = np.int64(0)
        for i in range(changes.shape[0]):
            if changes[i, 0] <= now:
                delay = changes[i, 1]
        left = max(now, ways[way, 0, 2]) + (data_air if kind == DATA else short_air)
        ways[way, 0, 2] = left
        arrival = max(left + delay, ways[way, 0, 3])
        ways[way, 0, 3] = arrival
        at = 1 + k % FATES
        ways[way, at, 0] = arrival
        ways[way, at, 1] = kind
        ways[way, at, 2] = number
        ways[way, at, 3] = fate

    put = dev(put)

    def note(log: Any, n: Any, now: Any, what: Any, a: Any, b: Any, c: Any) -> Any:
        log[n, 0] = now
        log[n, 1] = what
        log[n, 2] = a
        log[n, 3] = b
        log[n, 4] = c
        return n + 1

    note = dev(note)

    def run(
        p: Any, fates: Any, changes: Any, outages: Any, notices: Any, s: Any, g: Any, ways: Any, log: Any
    ) -> Any:  # fmt: skip
        n = np.int64(0)
        constants = g[:0]
        tcp.prepare(p, s, g, p[RowP.LIMIT], p[TcpP.CLOCK_PHASE], np.int64(0), tcp.WORDS)
        start = p[RowP.START]
        notified = np.int64(0)
        while n < log.shape[0] - 100:
            forth, back = 1 + ways[0, 0, 1] % FATES, 1 + ways[1, 0, 1] % FATES
            at_sink = ways[0, forth, 0] if ways[0, 0, 1] < ways[0, 0, 0] else np.int64(FOREVER)
            at_source = ways[1, back, 0] if ways[1, 0, 1] < ways[1, 0, 0] else np.int64(FOREVER)
            notice = notices[notified] if notified < notices.shape[0] else np.int64(FOREVER)
            of_tcp = min(s[Tcp.DELACK_EXPIRY], s[Tcp.TIMER_EXPIRY])
            now = min(min(start, min(at_sink, at_source)), min(of_tcp, notice))
            if now > p[RowP.END]:
                break
            sending = True
            if start == now:
                start = np.int64(FOREVER)
                tcp.start(p, s, g, now)
            elif at_sink == now:
                sending = False
                row = ways[0, forth]
                ways[0, 0, 1] += 1
                kind, number, fate = row[1], row[2], row[3]
                if fate == DESTROYED:
                    if kind == DATA:
                        tcp.corrupted(p, s, number)
                elif fate == GOOD and kind == PROBE:
                    n = note(log, n, now, REPLY, number, 0, 0)
                    put(ways, 1, now, np.int64(REPLY), number, fates, changes, outages)
                elif fate == GOOD:
                    ack_id, _ = tcp.on_data(p, s, now, number, False)
                    if ack_id >= 0:
                        n = note(log, n, now, ACK, tcp.size_of_ack(p, s, ack_id), s[Tcp.RCV_NXT], 0)
                        put(ways, 1, now, np.int64(ACK), ack_id, fates, changes, outages)
            elif at_source == now:
                row = ways[1, back]
                ways[1, 0, 1] += 1
                kind, number, fate = row[1], row[2], row[3]
                sending = fate == GOOD
                if sending and kind == ACK:
                    tcp.on_ack(p, s, g, constants, now, number)
                elif sending:
                    tcp.on_probe(p, s, g, constants, now, number)
            elif s[Tcp.DELACK_EXPIRY] == now:
                sending = False
                ack_id = tcp.on_delay(p, s)
                n = note(log, n, now, ACK, tcp.size_of_ack(p, s, ack_id), s[Tcp.RCV_NXT], 0)
                put(ways, 1, now, np.int64(ACK), ack_id, fates, changes, outages)
            elif s[Tcp.TIMER_EXPIRY] == now:
                tcp.on_timeout(p, s, g, constants, now)
            else:
                notified += 1
                tcp.on_notice(p, s, g, constants, now)
            if sending:
                while True:
                    packet = tcp.next_segment(p, s, g, now, False)
                    if packet < 0:
                        break
                    n = note(log, n, now, DATA, packet, 0, 0)
                    put(ways, 0, now, np.int64(DATA), packet, fates, changes, outages)
                number = tcp.probe(p, s, now)
                if number >= 0:
                    n = note(log, n, now, PROBE, number, 0, 0)
                    put(ways, 0, now, np.int64(PROBE), number, fates, changes, outages)
                n = note(log, n, now, WINDOW, g[0], s[Tcp.SSTHRESH], s[Tcp.PROBING])
                n = note(
                    log, n, now, TIMER, s[Tcp.HIGHEST_ACK], s[Tcp.RTO], min(s[Tcp.TIMER_EXPIRY], FOREVER)
                )
        return n

    return dev(run)


def lossless(*, limit: int = 2000) -> Script:
    """Return a script without loss: the delay is 20 ms, and a window of 20 packets fills the wire."""
    script = Script(0)
    script.fates[:] = GOOD
    script.changes = np.array([[0, 20 * MS]])
    script.outages = np.full((1, 2), FOREVER)
    script.notices = np.full(1, FOREVER)
    p = script.p
    p[RowP.LIMIT], p[RowP.WINDOW], p[ReliableP.INITIAL_SSTHRESH], p[TcpP.INITIAL_WINDOW] = limit, 20, 20, 2
    p[TcpP.HANDSHAKE], p[TcpP.TICK], p[TcpP.CLOCK_PHASE], p[ReliableP.ACK_EVERY] = 40, 10 * MS, 0, 1
    p[ReliableP.MIN_RTO] = 200 * MS
    return script


class Parameters:
    """Parameters with the columns of `P` as attributes."""

    def __init__(self, p: Ints) -> None:
        self._p = p

    def __getattr__(self, name: str) -> int:
        return int(self._p[P[name]])


class Twin:
    """Naive sender and receiver on the same wire."""

    def __init__(self, script: Script, tcp: type[TcpSender], control: type[Standard]) -> None:
        self.script = script
        self.simulation = Simulation()
        self.log: list[tuple[float, ...]] = []
        self.put = [0, 0]
        self.free = [0, 0]
        self.last = [0, 0]
        self.outcomes = Outcomes(limit=int(script.p[RowP.LIMIT]))
        p = Parameters(script.p)
        self.sender = tcp(self.simulation, self.outcomes, p, self.transmit, control())  # type: ignore[arg-type]
        self.sender.send_probe = self.transmit_probe
        self.receiver = Receiver(
            self.simulation, self.outcomes, first=self.sender.next_number, first_data=1,
            ack_every=p.ACK_EVERY, ack_delay=p.ACK_DELAY, ack_size=p.ACK, block_size=p.SACK_BLOCK,
            sack=tcp.sack, send_back=self.acknowledge,
        )  # fmt: skip
        on_timer = self.sender.timer._action
        self.sender.timer._action = lambda: self.after(on_timer)
        self.simulation.at(p.START, Rank.HOP, self.after, self.sender.start)
        for notice in script.notices:
            if notice < FOREVER:
                self.simulation.at(int(notice), Rank.T1, self.after, self.sender.on_notice)
        self.simulation.run(p.END)

    def after(self, action: Callable[..., None], *arguments: Any) -> None:
        """Run an action of the sender and log its state afterwards."""
        action(*arguments)
        tcp = self.sender
        due = tcp.timer.due if tcp.timer.pending else FOREVER
        paused = int(getattr(tcp, "paused", False))
        self.note(WINDOW, tcp.cwnd, tcp.ssthresh, paused)
        self.note(TIMER, tcp.highest_ack, tcp.rto(), due)

    def note(self, what: int, *values: float) -> None:
        self.log.append((self.simulation.now, what, *values))

    def travel(self, way: int, kind: int, arrive: Callable[..., None], *arguments: Any) -> None:
        now, script = self.simulation.now, self.script
        fate = script.fates[way, self.put[way] % FATES]
        self.put[way] += 1
        if any(start <= now < end for start, end in script.outages):
            fate = LOST
        delay = [delay for time, delay in script.changes.tolist() if time <= now][-1]
        self.free[way] = max(now, self.free[way]) + AIR[kind]
        self.last[way] = max(self.free[way] + delay, self.last[way])
        if fate != LOST:
            rank = Rank.ACK if way else Rank.DATA
            self.simulation.at(self.last[way], rank, arrive, fate == DESTROYED, *arguments)

    def transmit(self, packet: Packet) -> None:
        self.note(DATA, packet.content, 0, 0)
        self.travel(0, DATA, self.data_arrives, packet)

    def transmit_probe(self, number: int) -> None:
        self.note(PROBE, number, 0, 0)
        self.travel(0, PROBE, self.probe_arrives, number)

    def acknowledge(self, packet: Packet) -> None:
        self.note(ACK, packet.size, self.receiver.expected, 0)
        self.travel(1, ACK, self.ack_arrives, packet)

    def data_arrives(self, destroyed: bool, packet: Packet) -> None:
        if destroyed:
            self.receiver.corrupted(packet.content)
        else:
            self.receiver.receive(packet)

    def probe_arrives(self, destroyed: bool, number: int) -> None:
        if not destroyed:
            self.note(REPLY, number, 0, 0)
            self.travel(1, REPLY, self.reply_arrives, number)

    def ack_arrives(self, destroyed: bool, packet: Packet) -> None:
        self.after(self.sender.receive, packet)

    def reply_arrives(self, destroyed: bool, number: int) -> None:
        self.after(self.sender.on_probe_reply, number)

    def counts(self) -> list[int]:
        """Return the counters of the association."""
        values, tcp = self.outcomes.values, self.sender
        of_tcp = [values[column] for column in OF_TCP]
        return [*of_tcp, tcp.probes, tcp.pauses, tcp.spared, tcp.paused_until(int(self.script.p[RowP.END]))]


OF_TCP = [
    Out.SENT, Out.RETRANSMITTED, Out.TIMEOUTS, Out.FAST_RETRANSMITS, Out.CWND_CUTS, Out.HANDSHAKES,
    Out.IN_ORDER,
]  # fmt: skip


def counts(s: Ints, end: int) -> list[int]:
    """Return the counters of an association at the end, in the same order."""
    paused = s[Tcp.PROBE_TIME] + (end - s[Tcp.PROBING_SINCE] if s[Tcp.PROBING] else 0)
    words = [Tcp.SENT, Tcp.RETRANSMITTED, Tcp.TIMEOUTS, Tcp.FAST_RETRANSMITS, Tcp.REDUCTIONS]
    words.append(Tcp.HANDSHAKES)
    others = [Tcp.PROBES, Tcp.PROBE_CYCLES, Tcp.AVOIDED]
    in_order = max(s[Tcp.RCV_NXT] - 1, 0)
    return [*(int(s[w]) for w in words), int(in_order), *(int(s[w]) for w in others), int(paused)]


def arrays(script: Script) -> tuple[Any, ...]:
    """Return arguments of a kernel's `run`, zeroed."""
    p = script.p.copy()
    words = slots.scratch_words(newreno, int(p[RowP.WINDOW]), int(p[RowP.RING]))
    return (
        p, script.fates, script.changes, script.outages, script.notices, np.zeros(words, np.int64),
        np.zeros(sender.FLOATS), np.zeros((2, FATES + 1, 4), np.int64), np.zeros((200_000, 5)),
    )  # fmt: skip
