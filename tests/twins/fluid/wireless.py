"""The fluid of an 802.11 network as plain Python: a slow twin of `netcarlo.kernels.fluid.wireless`."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from netcarlo.kernels.base.layout import BYTE_TIME_BITS, ENDLESS, NEVER
from netcarlo.kernels.fluid.wireless.engine import ROUNDS, SETTLED, STEPS
from netcarlo.kernels.wireless.layout import ARF, NOBODY, FlowOut, NodeOut, WifiOut, WifiRows
from tests.twins.fluid import rates
from tests.twins.wireless.tables import Tables


class Server:
    """A node, or a leg."""

    def __init__(self, room: int, slot: float) -> None:
        self.room, self.slot = float(max(room, 1)), slot
        self.load = self.service = self.busy = self.queue = self.open = self.tau = self.attempt = 0.0
        self.crowd, self.fed, self.own, self.train = 1.0, 0.0, 0.0, 0.0
        self.tries = self.contended = self.failed = self.drop = self.occupied = 0.0
        self.exchange = self.vain = self.noise = self.collision = self.patience = 0.0
        self.frames = self.attempts = self.failures = self.given_up = self.refused = 0.0
        self.peers: set[int] = set()


@dataclass
class Visit:
    flow: int
    server: int
    back: bool
    service: float
    leg: bool = False
    first: bool = False  # of the radio nodes of its way
    to: int = NOBODY
    vain: float = 0.0
    frame: int = 0
    air: float = 0.0
    exposed: float = 0.0
    noise: float = 0.0
    patience: float = 0.0
    feeds: int = NOBODY
    rate: float = 0.0
    stay: float = 0.0
    collision: float = 0.0
    full: float = 0.0
    given_up: float = 0.0
    on_air: float = 0.0
    answer: float = 0.0
    read: float = 0.0


class TwinFlow:
    def __init__(self, spec: Any, per_ack: int) -> None:
        self.spec, self.per_ack = spec, float(per_ack)
        self.visits: list[Visit] = []
        self.trip = self.rate = self.loss = self.total = self.offered = self.arrived = self.acks = 0.0
        self.through = 0.0
        self.active, self.completed = False, NEVER


class TwinRadio:
    def __init__(self, rows: WifiRows, row: int) -> None:
        t = self.t = Tables(rows, row)
        self.p, self.radio, self.n = t.p, t.radio, t.radio.NODES
        self.slot_ns = float(t.radio.SLOT)
        self.ack_every = max(t.p.ACK_EVERY, 1)
        rooms = [node.QUEUE for node in t.nodes] + [leg.ROOM for leg in t.legs]
        self.servers = [Server(room, self.slot_ns) for room in rooms]
        self.sense = [{i for i in range(64) if node.SENSE >> i & 1} for node in t.nodes]
        self.flows = [TwinFlow(spec, self.ack_every) for spec in t.flows]
        self.order = list(range(self.n))
        for i, flow in enumerate(self.flows):
            self.lay_out(i, flow)
        self.visits = [visit for flow in self.flows for visit in flow.visits]

    # Ways.

    def lay_out(self, i: int, flow: TwinFlow) -> None:
        spec, tcp = flow.spec, flow.spec.TCP != 0
        data, found = spec.SIZE + spec.HEADER, flow.visits
        found += self.leg(i, flow, spec.BEFORE, data, False, 0)
        found += [self.hop(i, *x, data, False) for x in enumerate(self.t.path(spec.FORTH_AT, spec.FORTH))]
        found += self.leg(i, flow, spec.AFTER, data, False, spec.ACK_COST if tcp else 0)
        if tcp:
            found += self.leg(i, flow, spec.ACK_BEFORE, self.p.ACK, True, 0)
            back = self.t.path(spec.BACK_AT, spec.BACK)
            found += [self.hop(i, *x, self.p.ACK, True) for x in enumerate(back)]
            found += self.leg(i, flow, spec.ACK_AFTER, self.p.ACK, True, 0)
        for k, visit in enumerate(found):
            if k + 1 < len(found) or tcp:
                following = found[(k + 1) % len(found)]
                if not visit.leg and not following.leg:
                    visit.feeds = following.server
                    self.servers[visit.server].peers.add(following.server)
                    self.servers[following.server].peers.add(visit.server)

    def leg(self, i: int, flow: TwinFlow, leg: int, size: int, back: bool, cost: int) -> list[Visit]:
        if leg == NOBODY:
            return []
        spec = self.t.legs[leg]
        service = float(spec.BYTE_TIME) * (1.0 / (1 << BYTE_TIME_BITS)) * float(size + spec.OVERHEAD)
        service += float(spec.PACKET_TIME + (spec.READ_TIME if spec.READ > 0 else 0))
        flow.trip += float(spec.DELAY) + float(spec.TICK) / 2.0
        read = float(spec.READ) / float(spec.SIZE) if spec.READ > 0 else 0.0
        return [Visit(i, self.n + leg, back, service, leg=True, answer=float(cost), read=read)]

    def hop(self, i: int, k: int, link: int, size: int, back: bool) -> Visit:
        spec, radio = self.t.links[link], self.radio
        frame = size + radio.MAC_OVERHEAD
        visit = Visit(i, spec.FROM, back, 0.0, first=k == 0, to=spec.TO, frame=frame)
        for name, value in self.cost(frame, spec.RATE).items():
            setattr(visit, name, value)
        answers = self.t.rates[self.t.rates[spec.RATE].ANSWER]
        visit.patience = float(radio.SIFS + radio.SLOT + answers.PREAMBLE)
        digits = self.t.losses[spec.LOSS]
        if digits[31] != 0xFFFFFFFF:
            odd = float(digits[0]) / 2.0**32
            visit.noise = 1.0 - odd / (1.0 - odd)
        if not self.t.nodes[spec.TO].NEAR >> spec.FROM & 1:
            visit.noise = 1.0
        return visit

    def cost(self, frame: int, rate: int) -> dict[str, float]:
        """What a frame takes at a rate."""
        radio, own = self.radio, self.t.rates[rate]
        answers = self.t.rates[own.ANSWER]
        sifs, difs = float(radio.SIFS), float(radio.SIFS + 2 * radio.SLOT)
        air, ack = self.air(own, frame), self.air(answers, 14)
        found = {"service": air + sifs + ack + difs, "vain": air + difs, "air": air, "exposed": air}
        if frame > radio.RTS_THRESHOLD:
            rts = self.air(answers, 20)
            found["service"] += rts + ack + 2.0 * sifs
            found["vain"], found["exposed"] = rts + difs, rts
        elif radio.PROTECTION != NOBODY and own.DSSS == 0:
            cts = self.air(self.t.rates[radio.PROTECTION], 14) + sifs
            found["service"] += cts
            found["vain"] += cts
        return found

    def adapt(self) -> None:
        """ARF: the frames of each link take the mean of what they take at each rate."""
        for visit in [visit for visit in self.visits if not visit.leg and visit.rate > 0.0]:
            server = self.servers[visit.server]
            disturbed = server.contended / server.tries if server.tries > 0.0 else 1.0
            alive = (1.0 - disturbed * visit.collision) * (1.0 - visit.noise)
            counts = rates.attempts_at(self.radio, min(max(1.0 - alive, 1e-4), 0.9))
            costs = [self.cost(visit.frame, rate) for rate in range(self.radio.RATES)]
            total = 0.0
            for count in counts:
                total += count
            for name in costs[0]:
                mean = 0.0
                for count, cost in zip(counts, costs, strict=True):
                    mean += count * cost[name]
                before = getattr(visit, name)
                setattr(visit, name, before + 0.05 * (mean / total - before))

    def air(self, rate: Any, size: int) -> float:
        symbols = -(-2 * (8 * size + rate.EXTRA_BITS) // rate.HALF_BITS)
        return float(rate.PREAMBLE + rate.SYMBOL * symbols + rate.EXTENSION)

    # What flows offer.

    def begin(self) -> None:
        for flow in self.flows:
            trip = flow.trip
            for visit in flow.visits:
                visit.rate, visit.stay = 0.0, visit.service
                trip += visit.service
                server = self.servers[visit.server]
                server.service = max(server.service, visit.service)
            every = max(trip, 1.0) if flow.spec.TCP else float(max(flow.spec.INTERVAL, 1))
            flow.rate = 1.0 / every if flow.active else 0.0

    def offer(self) -> None:
        for flow in self.flows:
            if flow.active:
                if flow.spec.TCP:
                    self.window(flow)
                self.go(flow)
        for k, server in enumerate(self.servers):
            server.load = server.open = server.queue = server.fed = 0.0
            if k >= self.n:
                server.service = 0.0
        for visit in self.visits:
            server = self.servers[visit.server]
            server.load += visit.rate
            if visit.feeds != NOBODY:
                self.servers[visit.feeds].fed += visit.rate
            if visit.leg:
                server.service += visit.rate * self.of_leg(visit)
            if self.flows[visit.flow].spec.TCP:
                server.queue += visit.rate * visit.stay
            else:
                server.open += visit.rate
        for k, server in enumerate(self.servers):
            self.occupy(server, k >= self.n)

    def of_leg(self, visit: Visit) -> float:
        return visit.service + visit.answer / self.flows[visit.flow].per_ack

    def occupy(self, server: Server, leg: bool) -> None:
        if server.load == 0.0:
            server.busy = server.tau = 0.0
            return
        if leg:
            server.service /= server.load
        server.open *= server.service
        server.busy += 0.2 * (min(server.load * server.service, 1.0) - server.busy)
        server.tau += 0.2 * (server.busy * server.attempt - server.tau)
        server.own = 1.0 - (1.0 - server.busy * server.busy) * min(server.fed / server.load, 1.0)
        over = min(max(server.queue / server.room, 0.5), 2.0)
        server.crowd = max(server.crowd * (1.0 + 0.1 * (over - 1.0)), 1.0)

    def window(self, flow: TwinFlow) -> None:
        trip, b = flow.trip, float(self.ack_every)
        window = float(min(self.p.WINDOW, self.p.SEND_BUFFER) if self.p.SEND_BUFFER > 0 else self.p.WINDOW)
        for visit in flow.visits:
            server = self.servers[visit.server]
            seen = max(server.queue - visit.rate * visit.stay / window, 0.0)
            own = self.of_leg(visit) if visit.leg else server.service
            stay = (own + server.service * seen) / (1.0 - min(server.open, 0.98))
            visit.stay += 0.2 * (stay - visit.stay)
            trip += visit.stay
        data, answers = (
            max([1.0, *(self.servers[v.server].crowd for v in flow.visits if v.back == back)])
            for back in (False, True)
        )
        reads = max([0.0, *(v.read * self.servers[v.server].busy for v in flow.visits)])
        flow.per_ack = max(b * answers, reads)
        flow.rate = max(window / data - (b - 1.0) / 2.0, 1.0) / trip
        if flow.loss > 1e-9:
            timer = max(float(self.p.MIN_RTO), 2.0 * trip)
            again = min(1.0, 3.0 * math.sqrt(3.0 * b * flow.loss / 8.0)) * flow.loss
            again *= 1.0 + 32.0 * flow.loss * flow.loss
            flow.rate = min(flow.rate, 1.0 / (trip * math.sqrt(2.0 * b * flow.loss / 3.0) + timer * again))

    def go(self, flow: TwinFlow) -> None:
        kept = 1.0
        for visit in [v for v in flow.visits if not v.back]:
            visit.rate = flow.rate * kept
            kept = self.left(flow, visit, kept)
        flow.through, flow.loss = kept, 1.0 - kept if any(v.back for v in flow.visits) else 0.0
        kept = 1.0
        for visit in [v for v in flow.visits if v.back]:
            visit.rate = flow.rate * flow.through / flow.per_ack * kept
            kept = self.left(flow, visit, kept)

    def left(self, flow: TwinFlow, visit: Visit, kept: float) -> float:
        server = self.servers[visit.server]
        if not flow.spec.TCP:
            kept *= min(1.0, 1.0 / max(server.open, 1e-9))
        return kept if visit.leg else kept * (1.0 - server.drop)

    # The channel.

    def share(self) -> None:
        for k in range(1, self.n):  # stable, of what is nearly in order
            j = self.order.pop(k)
            place = k
            while place and self.servers[self.order[place - 1]].vain < self.servers[j].vain:
                place -= 1
            self.order.insert(place, j)
        for visit in self.visits:
            if not visit.leg:
                self.collide(visit)
        for j in range(self.n):
            if self.servers[j].load > 0.0:
                self.mean(j)
                self.slots(j)

    def attempts(self, i: int, j: int) -> float:
        one, other = self.servers[i], self.servers[j]
        if one.load == 0.0:
            return 0.0
        if self.sense[i] | {i} == self.sense[j] | {j}:
            return one.tau
        return one.tau * min(max(other.slot / one.slot, 1 / 64), 64.0)

    def collide(self, visit: Visit) -> None:
        j, to = visit.server, self.t.nodes[visit.to]
        clear = 1.0
        for i in range(self.n):
            fatal = to.DISTURB_DATA & to.SENSE
            if to.NEAR >> j & 1:
                fatal |= to.NEAR
            if i == j or not (i == visit.to or fatal >> i & 1):
                continue
            other = self.servers[i]
            if i in self.sense[j]:
                clear *= 1.0 - min(self.attempts(i, j), 0.9) * self.fresh(i, j)
            elif other.load > 0.0:
                frames = min(other.load, 1.0 / other.service)
                clear *= (1.0 - frames * other.occupied) / (1.0 + frames * other.tries * visit.exposed)
        visit.collision = min(1.0 - clear, 0.999)

    def fresh(self, i: int, j: int) -> float:
        one, other = self.servers[i], self.servers[j]
        if j in one.peers:
            first = float(max(self.radio.CW_MIN, 1) + 1)
            return 1.0 - (first - 1.0) / (2.0 * first) * (1.0 - min(one.own, other.own))
        return (one.own + other.own) / 2.0 if one.peers & other.peers else 1.0

    def mean(self, j: int) -> None:
        server, here = self.servers[j], [v for v in self.visits if not v.leg and v.server == j]
        total = 0.0
        for visit in here:
            total += visit.rate
        for name in ("exchange", "vain", "noise", "collision", "patience"):
            weighted = 0.0
            for visit in here:
                weighted += visit.rate * (visit.service if name == "exchange" else getattr(visit, name))
            setattr(server, name, weighted / total)
        server.noise, server.collision = min(server.noise, 1.0), min(server.collision, 0.999)

    def slots(self, j: int) -> None:
        server, slot = self.servers[j], self.slot_ns
        heard = [i for i in range(self.n) if i in self.sense[j]]
        sending = {i for i in heard if self.servers[i].load > 0.0}
        often = {i: self.attempts(i, j) for i in heard}
        tau = {i: min(often[i], 0.9) for i in heard}
        quiet, engaged, idle, total, squares = 1.0, 1.0, 1.0, 0.0, 0.0
        hidden, one_by_one, every, twice = 0.0, 0.0, 0.0, 0.0
        for i in heard:
            every += often[i]
            twice += often[i] * often[i]
            one_by_one += often[i] * (self.servers[i].train + slot)
            for k in sorted(sending - self.sense[i] - {i}):
                hidden += often[i] * often[k]
            busy = self.servers[i].busy
            quiet *= 1.0 - tau[i]
            engaged *= 1.0 - busy + min(tau[i], busy)
            idle *= 1.0 - busy
            total += tau[i]
            squares += tau[i] * tau[i]
        taken, longest, longer = 0.0, 0.0, 1.0
        for i in [i for i in self.order if i in self.sense[j]]:
            other = self.servers[i]
            single, first = tau[i] * quiet / (1.0 - tau[i]), tau[i] * longer
            taken += max(first - single, 0.0) * (other.vain + slot)
            taken += single * (other.train + slot)
            longest += first * max(other.vain, server.vain)
            longer *= 1.0 - tau[i]
        others, some = quiet * slot + taken, 1.0 - quiet
        if some > 1e-12:
            spared = 1.0 - min(server.collision / some, 1.0)
            others += (others - slot) * spared * (server.tau / (1.0 - min(server.tau, 0.9)))
        if hidden > 0.0:
            apart = hidden / (every * every - twice)
            others += apart * (2.0 - apart) * max(slot + one_by_one - others, 0.0)
        everybody, missed = 0.0, 1.0
        if total > 0.0 and some > 1e-12:
            longest /= some
            everybody = min((engaged - idle) / some, 1.0)
            missed += (1.0 - everybody) * self.missed(server.patience / slot, quiet / (1.0 - squares / total))
        else:
            longest = server.vain
        most = self.radio.GATEWAY_BURST if j == self.n - 1 else self.radio.BURST
        burst = 1.0 + server.busy * float(most - 1)
        self.contend(server, others, longest, everybody, missed, burst)
        own = server.occupied * burst / server.contended + slot
        mean = (1.0 - server.tau) * others + server.tau * own
        server.slot += 0.5 * (mean - server.slot)
        server.attempt *= mean / ((1.0 - server.attempt) * others + server.attempt * own)

    def missed(self, ratio: float, quiet: float) -> float:
        powers = [quiet]
        while len(powers) < int(ratio):
            powers.append(powers[-1] * quiet)
        missed = 0.0
        for power in powers[: max(int(ratio) - 1, 0)]:
            missed += power
        last = powers[int(ratio) - 1] if int(ratio) > 0 else quiet
        return missed + (ratio - float(int(ratio))) * last

    def contend(
        self, s: Server, others: float, longest: float, everybody: float, missed: float, burst: float
    ) -> None:
        retries = self.radio.SHORT_RETRY
        first = float(max(self.radio.CW_MIN, 1) + 1)
        windows = [first]
        while len(windows) < retries:
            windows.append(min(2.0 * windows[-1], max(float(self.radio.CW_MAX + 1), first)))
        again = s.busy * s.own
        alone = again / first
        fails = 1.0 - (1.0 - s.collision) * (1.0 - s.noise)
        later = 1.0
        for _ in windows[1:]:
            later *= fails
        drop = later * (fails + (s.noise - fails) * alone) / (1.0 + later * (s.noise - fails) * alone)
        lone = (1.0 - drop) * alone
        reached = [1.0 - lone]
        for k in range(1, retries):
            reached.append(reached[-1] * fails + (lone * s.noise if k == 1 else 0.0))
        fresh = again * (1.0 - 1.0 / first) * (first / 2.0) + (1.0 - again) * ((first + 1.0) / 2.0)
        slots = drop * ((first - 1.0) / 2.0 + missed) + (1.0 - drop) * fresh
        contended = reached[0]
        for window, times in zip(windows[1:], reached[1:], strict=True):
            slots += times * ((window - 1.0) / 2.0 + missed)
            contended += times
        collided = contended * s.collision
        noisy = (contended - collided + lone) * s.noise
        lost = longest + everybody * (s.patience - self.slot_ns)
        own = (1.0 - drop + noisy) * s.exchange + collided * lost
        access = max(slots - contended, 0.0) * others + contended * self.slot_ns
        s.drop, s.tries, s.contended, s.failed = drop, contended + lone, contended, collided + noisy
        s.attempt = min(contended / max(slots, contended), 0.95)
        more = (burst - 1.0) * (s.exchange - 2.0 * self.slot_ns)
        s.service, s.occupied = (access + own + more) / burst, (own + more) / burst
        s.train = s.exchange * (1.0 + again / (first - 1.0)) + more

    # The run.

    def change(self, t: int) -> bool:
        now = []
        for flow in self.flows:
            spec = flow.spec
            on = spec.START <= t < spec.STOP and flow.completed == NEVER and spec.LIMIT > 0 and spec.FORTH > 0
            if not spec.TCP and spec.LIMIT < ENDLESS:
                on = on and t < spec.START + spec.LIMIT * spec.INTERVAL
            now.append(on)
        changed = now != [flow.active for flow in self.flows]
        for flow, on in zip(self.flows, now, strict=True):
            flow.active = on
        return changed

    def run(self) -> int:
        solved = 0
        for k in range(STEPS):
            begin, end = self.p.END * k // STEPS, self.p.END * (k + 1) // STEPS
            if self.change((begin + end) // 2):
                self.begin()
                for done in range(ROUNDS):
                    self.offer()
                    self.share()
                    if self.radio.RATE_CONTROL == ARF and self.radio.RATES > 1 and done >= SETTLED:
                        self.adapt()
                solved += 1
            self.count(begin, end, float(max(end - max(begin, self.radio.WARM_UP), 0)))
        return solved * ROUNDS * len(self.visits)

    def count(self, begin: int, end: int, inside: float) -> None:
        now = {i for i, flow in enumerate(self.flows) if flow.active}
        for flow in self.flows:
            if not flow.active:
                continue
            rate = flow.rate * flow.through
            amount, counted = rate * float(end - begin), inside
            if flow.spec.TCP and flow.spec.LIMIT < ENDLESS:
                left = float(flow.spec.LIMIT) - flow.total
                if amount >= left:
                    flow.completed = begin + int(left / rate)
                    counted = float(max(flow.completed - max(begin, self.radio.WARM_UP), 0))
                    amount = left
            flow.total += amount
            flow.offered += flow.rate * counted
            flow.arrived += rate * counted
            flow.acks += rate / max(flow.per_ack, 1.0) * counted
        for visit in self.visits:
            if visit.flow not in now:
                visit.rate = 0.0
            server, came = self.servers[visit.server], visit.rate * inside
            taken = came
            if not self.flows[visit.flow].spec.TCP:
                taken = came * min(1.0, 1.0 / max(server.open, 1e-9))
            visit.full += came - taken
            if not visit.leg:
                visit.given_up += taken * server.drop
                visit.on_air += taken * server.tries * visit.air
        for server in self.servers[: self.n]:
            if server.load > 0.0:
                frames = min(server.load, 1.0 / server.service) * inside
                server.frames += frames
                server.attempts += frames * server.tries
                server.failures += frames * server.failed
                server.given_up += frames * server.drop
                server.refused += server.load * inside - frames

    def of_flow(self, flow: TwinFlow) -> dict[FlowOut, int]:
        def put_out(t: int) -> int:
            return min(max(-((flow.spec.START - t) // max(flow.spec.INTERVAL, 1)), 0), flow.spec.LIMIT)

        offered, found = int(flow.offered), dict.fromkeys((FlowOut.FIRST_RX, FlowOut.LAST_RX), NEVER)
        found |= dict.fromkeys((FlowOut.COMPLETED, FlowOut.SOURCE_DONE, FlowOut.DELAY_SUM), NEVER)
        arrived = min(int(flow.arrived), offered)
        if flow.spec.TCP:
            found[FlowOut.IN_ORDER], found[FlowOut.COMPLETED] = arrived, flow.completed
            found[FlowOut.ACKS_SENT] = int(flow.acks)
        else:
            offered = max(put_out(min(self.p.END, flow.spec.STOP)) - put_out(self.radio.WARM_UP), 0)
            if flow.offered > 0.0:
                arrived = int(float(offered) * min(flow.arrived / flow.offered, 1.0) + 0.5)
            found |= {FlowOut.ARRIVED: arrived, FlowOut.LOST: offered - arrived}
            last = flow.spec.START + (flow.spec.LIMIT - 1) * flow.spec.INTERVAL
            if arrived == offered and flow.spec.LIMIT > 0 and last < min(self.p.END, flow.spec.STOP):
                found[FlowOut.COMPLETED] = last
        found |= {FlowOut.SENT: offered, FlowOut.RECEIVED: arrived, FlowOut.DELIVERED: arrived}
        for visit in [v for v in flow.visits if not v.back]:
            cause = FlowOut.DROPS_SOURCE if visit.first else FlowOut.DROPS_RELAY
            cause = FlowOut.DROPS_LEG if visit.leg else cause
            found[cause] = found.get(cause, 0) + int(visit.full)
            found[FlowOut.RETRY_LOST] = found.get(FlowOut.RETRY_LOST, 0) + int(visit.given_up)
        return found

    def of_node(self, j: int) -> dict[NodeOut, int]:
        s = self.servers[j]
        return {
            NodeOut.QUEUED: int(s.frames), NodeOut.DROPS: int(s.refused), NodeOut.ATTEMPTS: int(s.attempts),
            NodeOut.FAILED: int(s.failures), NodeOut.SUCCEEDED: int(s.frames - s.given_up),
            NodeOut.RETRY_DROPS: int(s.given_up),
            NodeOut.AIR_DATA: sum(int(v.on_air) for v in self.visits if not v.leg and v.server == j),
        }  # fmt: skip


def simulate(rows: WifiRows, *, row: int, columns: int) -> NDArray[np.int64]:
    """The outcomes of a row, int64[columns]."""
    twin = TwinRadio(rows, row)
    out = np.zeros(columns, np.int64)
    out[WifiOut.EVENTS] = twin.run()
    for i, flow in enumerate(twin.flows):
        for column, value in twin.of_flow(flow).items():
            out[WifiOut.COLUMNS + i * FlowOut.COLUMNS + column] = value
    at = columns - rows.nodes.shape[1] * NodeOut.COLUMNS
    for j in range(twin.n):
        for node_column, value in twin.of_node(j).items():
            out[at + j * NodeOut.COLUMNS + node_column] = value
    return out
