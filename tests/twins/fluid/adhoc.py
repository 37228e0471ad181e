"""The fluid model of ad hoc networks as plain Python: a slow twin of `netcarlo.kernels.fluid.adhoc`.

The network is the packet twin's: the same nodes, links as sets, and statistics.  The route is a list of
nodes, exchanges are objects, packets whole numbers of 2**-20.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from netcarlo.kernels.adhoc.layout import IDEAL, OBSERVE_COMPLETION, Manet, ManetOut, ManetRows, NodeOut
from netcarlo.kernels.base.layout import FOREVER, NEVER, P
from netcarlo.kernels.shared.layout import KINDS, Flow, FlowOut
from tests.twins.adhoc.counters import Counters
from tests.twins.adhoc.links import NO_OTHER, Topology, shortest
from tests.twins.adhoc.statistics import MOST_HOPS, Statistics
from tests.twins.adhoc.tables import Tables
from tests.twins.fluid.shared import HOPELESS, MS, ONE, TwinFlow, exponential
from tests.twins.fluid.timer import TwinTimer

RESIDUAL_STREAM, GIVEN_UP_STREAM = 1 << 22, 1 << 25
BUFFER = 64
WINDOWS = {"probing": "newreno", "new_probing": "sack", "elfn": "newreno", "eln": "newreno"}


def survival(thresholds: list[int]) -> float:
    if thresholds[31] == 0xFFFFFFFF:
        return 1.0
    odd = thresholds[0] / 2.0**32
    return odd / (1.0 - odd)


@dataclass
class Exchange:
    """A packet over a hop, or an answer back over it."""

    sender: int
    receiver: int
    weight: float
    length: int
    hidden: float = 0.0
    air: float = 0.0
    busy: float = 0.0
    given_up: float = 0.0


class TwinAir(TwinFlow):
    """A flow over the route there is; its unit of time is the nanosecond."""

    def __init__(self, kind: str, rows: ManetRows, row: int) -> None:
        self.tables = tables = Tables(rows, row)
        self.manner = kind if kind in WINDOWS else "plain"
        p = [int(value) for value in rows.parameters[row]]
        flow = np.zeros(Flow.COLUMNS, np.int64)
        flow[: len(P)] = p[: len(P)]
        flow[P.INTERVAL] = max(p[P.INTERVAL], 1)
        flow[Flow.KIND] = KINDS.index(WINDOWS.get(kind, kind))
        super().__init__(flow, 0, 1, [], tables.streams)
        self.p, self.net, self.least_rtt, self.state = p, tables.net, 1e18, "open"
        self.timer = TwinTimer(p)
        self.source, self.sink = self.net.SOURCE, self.net.SINK
        self.topology = Topology(tables)
        self.counters = Counters(self.net.NODES, limit=tables.p.LIMIT)
        self.statistics = Statistics(self.counters, self.topology, self.source, self.sink)
        self.values = self.counters.values
        self.frame = 1.0 - survival(tables.losses[self.net.FRAME_LOSS])
        self.gaps = self.every_gap()
        self.gap = next(self.gaps)
        self.path: list[int] = []
        self.changed, self.given_up_before = True, 0
        self.each = self.trip = self.noise = self.shadow = self.worst = 0.0
        self.links_left = self.until_given_up()
        self.packet_hops = self.waiting = self.guarded = 0
        self.first_gone: int | None = None

    # What is lost at random.

    def every_gap(self) -> Iterator[int]:
        thresholds = self.tables.losses[self.net.RESIDUAL]
        most = FOREVER >> 20
        if thresholds[31] == 0xFFFFFFFF:
            while True:
                yield most * ONE
        for gap in self.tables.streams.gaps(RESIDUAL_STREAM, thresholds):
            yield min(gap, most) * ONE

    def lose(self, flow: int) -> int:
        """So much reaches the sink's host: how many packets are lost there; they are counted."""
        lost = 0
        while flow > self.gap:
            flow = max(flow - self.gap - ONE, 0)
            self.gap = next(self.gaps)
            lost += 1
        self.gap -= flow
        self.values[ManetOut.DROPS_RANDOM] += lost
        return lost

    def until_given_up(self) -> float:
        word = self.tables.streams.block(GIVEN_UP_STREAM, 2 * self.given_up_before)[0]
        self.given_up_before += 1
        return exponential(word) * 2.0**-40

    def give_up(self, t: int) -> int:
        """A link that is there is given up at `t`: when there is a route again."""
        word = self.tables.streams.block(GIVEN_UP_STREAM, 2 * self.given_up_before + 1)[0]
        lost = self.worst / 2.0
        chance = self.shadow / (self.noise + self.shadow) * (lost * lost)
        self.links_left = self.until_given_up()
        return t + 2000 * MS if word < chance * 2.0**32 else t + self.patience() + 10 * MS

    # What the radio takes.

    def unanswered(self) -> int:
        return int(self.net.RTS + self.net.SIFS + self.net.CTS)

    def difs(self) -> int:
        return int(self.net.SIFS + 2 * self.net.SLOT)

    def on_air(self, size: int) -> int:
        net = self.net
        around = net.RTS + net.CTS + net.MAC_ACK + 3 * net.SIFS
        return int(around + net.PREAMBLE + (size + net.OVERHEAD) * net.BYTE_TIME)

    @property
    def data_time(self) -> int:
        return self.on_air(self.p[P.DATA] + self.p[P.CHUNK_HEADER] + self.p[P.HEADER])

    def windows(self) -> Iterator[int]:
        window = self.net.CW_MIN
        while True:
            yield window
            window = min(2 * window + 1, self.net.CW_MAX)

    def patience(self) -> int:
        tries = zip(range(self.net.SHORT_RETRY), self.windows(), strict=False)
        return sum(self.difs() + window * self.net.SLOT // 2 + self.unanswered() for _, window in tries)

    def round_of(self, size: int) -> int:
        """The round trip of a lone packet without data."""
        hops = max(len(self.path) - 1, 1)
        wait = 2 * self.difs() + self.net.CW_MIN * self.net.SLOT
        return hops * (self.on_air(size) + self.on_air(self.p[P.ACK]) + wait)

    def deaf(self, length: int, window: int) -> tuple[int, int]:
        left, tries, past = length - self.unanswered(), 0, 0
        while left > 0:
            window = min(2 * window + 1, self.net.CW_MAX)
            wait = self.difs() + window * self.net.SLOT // 2
            if wait >= left:
                break
            tries += 1
            past += wait + self.unanswered()
            left -= wait + self.unanswered()
        return tries, past

    def weigh_exchange(self, e: Exchange, alone: bool) -> None:
        stages = min(self.net.SHORT_RETRY, 16)
        reach, silent = [1.0] + [0.0] * 40000, [1.0] + [0.0] * 40000
        vain, wait, slot, bad = float(self.unanswered()), float(self.difs()), float(self.net.SLOT), self.frame
        failed = bad + (1.0 - bad) * bad
        first = float(self.net.CW_MIN)
        busy = idle = 0.0
        late: list[float] = []
        for k, window in zip(range(stages), self.windows(), strict=False):
            meets = e.hidden / 2.0 if k == 0 else e.hidden
            no_rts = 1.0 - (1.0 - meets) * (1.0 - bad)
            no_cts = (1.0 - no_rts) * bad
            answered = (1.0 - no_rts) * (1.0 - bad)
            tries, past = self.deaf(e.length, window)
            busy += reach[k] * ((no_rts + no_cts) * vain + no_cts * (tries * vain) + answered * e.length)
            pause = window / 2.0
            if k == 0 and not alone:
                pause = first * (2.0 * first + 1.0) / (6.0 * (first + 1.0))
            idle += reach[k] * (wait + pause * slot)
            idle += reach[k] * no_cts * (past - tries * vain)
            reach[k + 1] += reach[k] * (no_rts + answered * failed)
            silent[k + 1] += silent[k] * no_rts if k + 1 < stages else 0.0
            reach[k + 1 + tries] += reach[k] * no_cts
            silent[k + 1 + tries] += silent[k] * no_cts if k + 1 + tries < stages else 0.0
            late += [silent[k] * no_rts] if k + 1 >= stages else []
            late += [silent[k] * no_cts] if k + 1 + tries >= stages else []
        run = 0.0
        for part in late:
            run += part
        e.busy = busy
        collided = 0.0 if alone else 1.0 / (first + 1.0)
        e.air = busy + idle + collided * (vain + wait)
        total, stage = 0.0, 1.0
        for _ in range(self.net.LONG_RETRY):
            total += stage * run
            stage *= (1.0 - run) * failed
        e.given_up = total + stage

    def meets(self, x: Exchange, exchanges: list[Exchange]) -> tuple[float, float, float]:
        """How long x waits for a packet's exchanges, how much of that they are on the air, and how long its
        receiver senses what its sender does not."""
        sensed, linked = self.topology.sensed, self.topology.linked
        early = float(self.unanswered() + self.net.EIFS)
        waits = busy = hidden = 0.0
        for y in exchanges:
            on = y.weight * y.busy
            own = x.sender in (y.sender, y.receiver)
            if own or y.sender in sensed[x.sender] or y.receiver in linked[x.sender]:
                waits += y.weight * y.air
                busy += on
                continue
            part = min(y.weight * early, on) if y.receiver in sensed[x.sender] else 0.0
            waits += part
            busy += part
            hidden += on - part if y.sender in sensed[x.receiver] else 0.0
        return waits, busy, hidden

    def weigh(self, offered: float) -> None:
        self.changed = False
        hops = list(zip(self.path, self.path[1:], strict=False))
        data, answer = self.data_time, self.on_air(self.p[P.ACK])
        alone = self.udp and len(hops) == 1
        exchanges = [Exchange(a, b, 1.0, data) for a, b in hops]
        if not self.udp:
            weight = 1.0 / max(self.p[P.ACK_EVERY], 1)
            exchanges += [Exchange(b, a, weight, answer) for a, b in hops]
        for e in exchanges:
            self.weigh_exchange(e, alone)
        met = [self.meets(e, exchanges) for e in exchanges]
        self.each = max(waits for waits, _, _ in met)
        rate = min(offered, 1.0 / self.each)
        wait = 2 * self.difs() + self.net.CW_MIN * self.net.SLOT
        self.trip = max(float(len(hops) * (data + answer + wait)), self.each)
        self.noise = self.shadow = self.worst = 0.0
        for e, (_, busy, hidden) in zip(exchanges, met, strict=True):
            e.hidden = min(rate * hidden / max(1.0 - rate * busy, 0.05), 0.9)
            if e.hidden > 0.0:
                self.weigh_exchange(e, False)
                self.shadow += e.weight * e.given_up
                self.worst = max(self.worst, e.hidden)
            else:
                self.noise += e.weight * e.given_up

    # The route.

    def look(self, until: int) -> int:
        """Nodes move until then, or until something changes for the route: when."""
        while self.topology.next_time <= until:
            now = self.topology.now = self.topology.next_time
            _, i, j, which = self.topology._next
            self.topology.step()
            if j == NO_OTHER:
                continue
            if which == 0:
                self.statistics.flipped(i, j)
            if self.path and self.concerned(i, j, which):
                self.changed = True
                return now
        return until

    def catch_up(self, t: int) -> None:
        while self.look(t) < t:
            pass

    def concerned(self, i: int, j: int, which: int) -> bool:
        on_it = i in self.path and j in self.path
        if which == 1:
            return on_it
        comes = j in self.topology.linked[i]
        first, last = sorted((self.path.index(i), self.path.index(j))) if on_it else (0, 0)
        if on_it and not comes and last == first + 1:
            self.first_gone = first if self.first_gone is None else min(self.first_gone, first)
        elif comes and self.first_gone is None and self.net.ROUTING == IDEAL:
            found = self.shortest()
            if len(found) < len(self.path):
                self.path, on_it = found, True
        elif comes and self.first_gone is None and on_it:
            self.path = self.path[: first + 1] + self.path[last:]
        return on_it

    def shortest(self) -> list[int]:
        found = shortest(self.topology.linked, self.source, self.sink)
        return found if 0 < len(found) - 1 <= MOST_HOPS else []

    def find(self, t: int) -> int:
        """From `t` on the source looks for a route: when it has one."""
        begin, end = t, self.p[P.END]
        self.path, self.first_gone, self.changed = [], None, True
        waits = self.requests()
        while t < end:
            self.catch_up(t)
            self.path = self.shortest()
            if self.path:
                t += 0 if self.net.ROUTING == IDEAL else 10 * MS
                break
            t = min(self.topology.next_time, end) if self.net.ROUTING == IDEAL else t + next(waits)
        t = min(t, end)
        self.values[ManetOut.WAITED] += t - min(begin, t)
        return t

    @staticmethod
    def requests() -> Iterator[int]:
        """From a request to the next: to the neighbours, to all, again to the neighbours."""
        period = 2000 * MS
        while True:
            yield 45 * MS
            yield period - 45 * MS
            period = min(4 * period, 10_000 * MS)

    # What both kinds of sources do.

    def run(self) -> NDArray[np.int64]:
        end = self.p[P.END]
        t = self.begin_udp() if self.udp else self.begin_tcp()
        while t < end and self.values[ManetOut.COMPLETED] == NEVER:
            self.catch_up(t)
            if not self.path or self.first_gone is not None:
                t = self.cross_udp(t) if self.udp else self.cross_tcp(t)
            else:
                t = self.stream(t) if self.udp else self.round(t)
        for column in (ManetOut.FINISHED, ManetOut.COMPLETED):
            if self.values[column] > end:
                self.values[column] = NEVER
        if self.net.OBSERVE == OBSERVE_COMPLETION and self.values[ManetOut.FINISHED] != NEVER:
            end = self.values[ManetOut.FINISHED]
        self.path = []
        self.catch_up(end)
        self.topology.now = end
        self.statistics.integrate(self.topology.links())
        self.report()
        self.values[ManetOut.ELAPSED] = end
        self.values[ManetOut.FALSE_BREAKS] = self.given_up_before - 1
        self.values[ManetOut.HOPS] = self.packet_hops >> 20
        for column in (ManetOut.FIRST_RX, ManetOut.LAST_RX):
            self.values[column] = NEVER
        return np.array(list(self.values.values()), np.int64)

    def left_on_the_way(self, told: int, again: int) -> bool:
        """Whether relays drop what they have: the source looks elsewhere, and there is nothing at once."""
        return again > told + 10 * MS

    # Datagrams.

    def begin_udp(self) -> int:
        self.values[ManetOut.COMPLETED] = NEVER
        t = self.find(self.p[P.START])
        self.keep(self.p[P.START], t)
        return t

    def put_out(self, t: int) -> int:
        every, start = max(self.p[P.INTERVAL], 1), self.p[P.START]
        return min(max(-((start - min(t, self.p[P.STOP])) // every), 0), self.p[P.LIMIT])

    def come(self, t: int, until: int) -> int:
        return (self.put_out(until) - self.put_out(t)) * ONE

    def keep(self, t: int, until: int) -> None:
        """Without a route the source keeps so many."""
        self.waiting += self.come(t, until)
        over = -(-max(self.waiting - BUFFER * ONE, 0) // ONE)
        self.values[ManetOut.DROPS_BUFFER] += over
        self.waiting = max(self.waiting - over * ONE, 0)

    def arrived(self) -> int:
        return (self.sent >> 20) - self.values[ManetOut.DROPS_RANDOM]

    def stream(self, t: int) -> int:
        every = 1.0 / max(self.p[P.INTERVAL], 1)
        if self.changed:
            self.weigh(every)
        rate = 1.0 / self.each
        if self.waiting < ONE:
            rate = min(rate, every)
        breaks = rate * (self.noise + self.shadow)
        until = self.p[P.END]
        gives_up = self.links_left < breaks * (until - t)
        if gives_up:
            until = t + int(self.links_left / breaks)
        end = self.look(until)
        waiting = self.waiting + self.come(t, end)
        goes = min(waiting, int((end - t) / self.each * ONE))
        room = max((self.net.QUEUE + 1) * ONE, self.waiting)
        over = -(-max(waiting - goes - room, 0) // ONE)
        self.values[ManetOut.DROPS_QUEUE] += over
        self.waiting = max(waiting - goes - over * ONE, 0)
        self.sent += goes
        self.packet_hops += goes * (len(self.path) - 1)
        self.lose(goes)
        if self.arrived() >= self.p[P.LIMIT]:
            self.values[ManetOut.COMPLETED] = self.values[ManetOut.FINISHED] = end
        self.links_left -= breaks * (end - t)
        if gives_up and end == until:
            again = min(self.give_up(end), self.p[P.END])
            self.keep(end, again)
            return again
        return end

    def cross_udp(self, t: int) -> int:
        relayed = bool(self.first_gone)
        told = min(t + (self.patience() if self.path else 0), self.p[P.END])
        again = self.find(told)
        if relayed and self.left_on_the_way(told, again):
            self.waiting += self.come(t, told)
            hits = min(self.waiting >> 20, 1 + self.patience() // self.data_time)
            self.values[ManetOut.DROPS_ROUTE] += hits
            self.waiting -= hits * ONE
            t = told
        self.keep(t, again)
        return again

    # TCP.

    def begin_tcp(self) -> int:
        self.values[ManetOut.COMPLETED] = NEVER
        t = self.find(self.p[P.START])
        if self.p[P.HANDSHAKE] and self.kind != "vegas" and t < self.p[P.END]:
            t += self.round_of(self.p[P.HANDSHAKE])
            expires = self.p[P.START] + self.timer.length
            if expires >= t:
                self.timer.measure(self.p[P.START], t)
            while expires < t:
                self.count[FlowOut.TIMEOUTS] += 1
                self.w = 1.0
                self.timer.back_off()
                expires += self.timer.length
        return t

    @property
    def room(self) -> int:
        return int(self.net.QUEUE + len(self.path))

    def round_trip(self) -> float:
        return max(self.trip, min(int(self.w), self.room) * self.each)

    def gone_through(self) -> int:
        drops = (ManetOut.DROPS_RANDOM, ManetOut.DROPS_QUEUE, ManetOut.DROPS_ROUTE)
        return self.sent - sum(self.values[drop] for drop in drops) * ONE - self.repeated

    def pass_on(self, flow: int, rtt: float, part: float, t: int, frozen: bool, unanswered: int) -> None:
        self.sent += flow
        self.guarded = max(self.guarded - flow, 0)
        self.timer.pass_rounds(t, rtt, part, self.guarded)
        self.packet_hops += flow * (len(self.path) - 1)
        answered = max(flow - unanswered * ONE, 0)
        acked = (answered >> (1 if self.p[P.ACK_EVERY] > 1 else 0)) / ONE
        self.grow(acked, rtt, part, float((t << 10) // 1_000_000_000), frozen)

    def round(self, t: int) -> int:
        if self.changed:
            self.weigh(1.0)
        if self.state == "repair" and t >= self.until:
            self.state = "open"
        packets, rtt, room = int(self.w), self.round_trip(), self.room
        length = int(rtt)
        if self.state == "repair":
            length = min(length, self.until - t)
        cause = "overflow" if packets > room and self.state != "repair" else ""
        part = length / rtt
        if self.gap < packets * ONE * part:
            part = self.gap / (packets * ONE)
            length, cause = int(part * rtt), "random"
        if t + length > self.p[P.END]:
            length, cause = self.p[P.END] - t, ""
            part = length / rtt
        lasts = packets * self.data_time > self.patience()
        breaks = packets * (self.noise + (self.shadow if lasts else 0.0))
        if self.links_left < breaks * part:
            part = self.links_left / breaks
            length, cause = int(part * rtt), "given up"
        left = self.limit - self.gone_through()

        def until_left() -> int:
            flow = int(packets * part * ONE)
            return min(int(length * (left / max(flow, 1))), length) if flow >= left else length

        last = t + until_left()
        end = self.look(last)
        if end < last:
            length, cause = end - t, ""
            part = length / rtt
        self.links_left -= breaks * part
        flow = int(packets * part * ONE)
        if flow >= left:
            done = t + until_left()
            self.values[ManetOut.COMPLETED] = done + (int(self.trip) >> 1)
            self.values[ManetOut.FINISHED] = done + int(self.trip)
            flow, cause = left, ""
        twice = max(min(self.twice, flow), 0)
        self.twice -= twice
        self.repeated += twice
        self.lose(max(flow, 0))
        self.pass_on(flow, rtt, part, t, self.state == "repair" and self.kind != "tahoe", 0)
        t += length
        if cause == "given up":
            return self.silence(t, self.give_up(t), rtt)
        return self.suffer(cause, room, t, rtt) if cause else t

    def suffer(self, cause: str, room: int, t: int, rtt: float) -> int:
        if cause == "overflow":
            self.w = min(self.w, float(room + 1))
        left = -(-(self.limit - self.gone_through()) // ONE)
        packets, hopeless = min(int(self.w), max(left, 1)), self.guarded > 0
        self.pass_on(packets * ONE, rtt, 1.0, t, False, 1)
        over = min(max(packets - room - 1, 1), packets) if cause == "overflow" else 0
        self.values[ManetOut.DROPS_QUEUE] += over
        self.hits = over + self.lose((packets - over) * ONE)
        if hopeless:
            self.hits += HOPELESS
        return self.learn(cause, t + int(rtt), rtt)

    def learn(self, cause: str, t: int, rtt: float) -> int:
        """The sender knows of losses at `t`: until it goes on."""
        again = self.lost_again()
        spares = self.manner in ("probing", "new_probing")
        if spares and self.w < self.p[P.WINDOW]:
            again = 0
        quick = self.manner != "plain" and self.repaired(t, again)
        if not spares and not (self.manner == "eln" and quick and cause == "random"):
            self.conclude(t, rtt, again, self.timer.length)
            if self.state == "silent" or self.kind == "vegas":
                self.timer.back_off()
            if self.state == "silent":
                self.state = "open"
                return self.until
            return t
        if self.manner != "new_probing":
            self.guarded = ONE
        if not quick:
            return self.spare(t + self.timer.length, t, rtt)
        self.count[FlowOut.FAST_RETRANSMITS] += 1
        self.state, self.until = "repair", t + int(rtt + 0.5)
        if self.manner == "probing":
            return self.pause(t, t, rtt)
        self.values[ManetOut.SPARED] += 1
        return t

    def lost_again(self) -> int:
        needed = self.at_stake() * ONE
        if self.hits >= self.w or self.gap >= needed:
            return 0
        self.sent += self.lose(needed) * ONE
        return ONE

    def spare(self, expires: int, again: int, rtt: float) -> int:
        """The timer of a sender that probes goes off; from `again` on there is a route."""
        self.count[FlowOut.TIMEOUTS] += 1
        first = self.timer.estimate <= self.timer.before and self.timer.backoff == 1
        if self.manner == "new_probing" and first:
            self.values[ManetOut.SPARED] += 1
            self.timer.back_off()
            if expires + self.timer.length >= again:
                return max(expires, again)
            self.count[FlowOut.TIMEOUTS] += 1
            expires += self.timer.length
        return self.pause(expires, again, rtt)

    def pause(self, since: int, again: int, rtt: float) -> int:
        timer, trip = self.timer, self.round_of(self.p[P.HEADER])
        every = max(min(max(timer.estimate, timer.least), timer.most), 2 * timer.raw_tick)
        vain = max(again - since, 0) // every
        asked = since + vain * every
        told = max(asked, again) + trip
        both = survival(self.tables.losses[self.net.ACK_RESIDUAL]) ** 2
        t = told + trip + int((1.0 - both * both) * every)
        self.values[ManetOut.PROBES] += 2 + vain
        self.values[ManetOut.PROBE_CYCLES] += 1
        self.values[ManetOut.PROBE_TIME] += t - since
        if 64 * timer.ticks(asked, told) <= 10 * timer.srtt_8:  # a quarter above the smoothed RTT
            self.values[ManetOut.SPARED] += 1
        else:
            self.fall_back()
            self.state = "open"
        return t

    def fall_back(self) -> None:
        self.guarded = max(self.guarded, int(self.w) * ONE)
        self.collapse()
        self.count[FlowOut.CWND_CUTS] += 1
        self.timer.back_off()

    def cross_tcp(self, t: int) -> int:
        rtt = self.round_trip() if self.path else self.trip
        relayed = bool(self.first_gone)
        told = t + (self.patience() if self.path else 0)
        again = self.find(told)
        if relayed and self.left_on_the_way(told, again):
            hits = min(int(self.w), 1 + self.patience() // self.data_time)
            self.sent += hits * ONE
            self.values[ManetOut.DROPS_ROUTE] += hits
            self.hits = hits
            if again < t + self.timer.length:
                return self.learn("outage", again, rtt)
        return self.silence(t, again, rtt)

    def silence(self, t: int, again: int, rtt: float) -> int:
        if self.manner == "elfn":
            self.values[ManetOut.PROBES] += 1 + (again - t) // (2000 * MS)
            self.values[ManetOut.PROBE_CYCLES] += 1
            self.values[ManetOut.PROBE_TIME] += again - t
            return again
        expires = t + self.timer.length
        if expires >= again:
            if self.guarded == 0:
                self.timer.measure(t, again + int(rtt))
            return again
        if self.manner in ("probing", "new_probing"):
            return self.spare(expires, again, rtt)
        last = t
        while expires < again:
            self.count[FlowOut.TIMEOUTS] += 1
            self.fall_back()
            last = expires
            expires += self.timer.length
        return again if again - last < 30_000 * MS else expires

    def report(self) -> None:
        v = self.values
        if self.udp:
            v[ManetOut.SENT], v[ManetOut.ARRIVED] = self.put_out(self.p[P.END]), self.sent >> 20
            v[ManetOut.RECEIVED] = v[ManetOut.DELIVERED] = max(self.arrived(), 0)
            return
        drops = sum(v[c] for c in (ManetOut.DROPS_RANDOM, ManetOut.DROPS_QUEUE, ManetOut.DROPS_ROUTE))
        received, distinct = max(self.sent - drops * ONE, 0) >> 20, max(self.gone_through(), 0) >> 20
        v[ManetOut.SENT], v[ManetOut.RECEIVED] = received + drops, received
        v[ManetOut.ARRIVED] = received
        v[ManetOut.DELIVERED] = v[ManetOut.IN_ORDER] = v[ManetOut.ACKED] = distinct
        v[ManetOut.RETRANSMITTED] = received + drops - distinct
        v[ManetOut.TIMEOUTS] = self.count[FlowOut.TIMEOUTS]
        v[ManetOut.FAST_RETRANSMITS] = self.count[FlowOut.FAST_RETRANSMITS]
        v[ManetOut.CWND_CUTS] = self.count[FlowOut.CWND_CUTS]


def simulate(model: str, rows: ManetRows, *, row: int) -> NDArray[np.int64]:
    """The outcomes of one row under `model`, as "fluid_manet_sack", as the kernel gives them."""
    found = TwinAir(model.removeprefix("fluid_manet_"), rows, row).run()
    out = np.zeros(ManetOut.COLUMNS + rows.times.shape[1] * NodeOut.COLUMNS, np.int64)
    out[: len(found)] = found
    for node in range(int(rows.parameters[row, Manet.NODES])):
        out[ManetOut.COLUMNS + node * NodeOut.COLUMNS + NodeOut.TRANSMIT] = NEVER
    return out
