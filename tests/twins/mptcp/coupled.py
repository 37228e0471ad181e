"""Coupled congestion controls LIA (RFC 6356), OLIA and BALIA (from their papers)."""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING, NamedTuple

from tests.twins.linux.controls import INFINITE, Reno, Sender
from tests.twins.linux.receiver import FIRST
from tests.twins.linux.sender import RECOVERY

if TYPE_CHECKING:
    from tests.twins.mptcp.subflow import Subflow

ONE = 2**20
"""Growth of one packet in OLIA."""


class Seen(NamedTuple):
    """State of a subflow that the controls of other subflows read."""

    window: int
    rtt: int  # [us / 8]
    interval: int  # packets between losses

    def at(self, rtt: int) -> int:
        """Return the window with the same rate at another RTT [packets / 1024]."""
        return min(self.window * 1024 * rtt // self.rtt, 2**31 - 1)

    def quality(self) -> int:
        """Return l / rtt^2."""
        return (min(self.interval, 2**20 - 1) * 2**42) // max(self.rtt // 8, 1) ** 2


class Coupled(Reno):
    """Congestion control of a subflow that depends on the other subflows."""

    subflow: Subflow

    def interval(self) -> int:
        return 0

    def seen(self) -> Seen:
        return Seen(self.subflow.sender.cwnd, max(self.subflow.sender.srtt_8, 1), self.interval())

    def all(self) -> list[Seen]:
        """Return the subflows that count, this one first."""
        found = [self.seen()]
        for one in self.subflow.connection.subflows:
            busy = one.sender.una < one.sender.end
            known = one.usable and one.sender.srtt_8 > 0
            if one is not self.subflow and known and (busy or not one.backup):
                _, rtt, interval = one.sender.control.seen()
                window = one.sender.ssthresh if one.sender.state == RECOVERY else one.sender.cwnd
                found.append(Seen(max(window, 1), rtt, interval))
        return found

    def total(self, rtt: int) -> int:
        return min(sum(one.at(rtt) for one in self.all()), 2**31 - 1)


class Lia(Coupled):
    """LIA (RFC 6356)."""

    def every(self, sender: Sender, jiffies: int, second: int, acked: int, in_jiffies: int) -> int:
        linked = [self.total(one.rtt) ** 2 // one.window // 2**20 for one in self.all()]
        return max(sender.cwnd, min(linked))


class Olia(Coupled):
    """OLIA (Khalili et al. 2013)."""

    def __init__(self) -> None:
        self.losses = [FIRST, FIRST]  # packets acknowledged at the latest losses
        self.growth = 0

    def interval(self) -> int:
        return max(self.subflow.sender.una - self.losses[-1], self.losses[-1] - self.losses[-2])

    def note_loss(self) -> None:
        if self.subflow.sender.una != self.losses[-1]:
            self.losses.append(self.subflow.sender.una)

    def after_loss(self, cwnd: int) -> int:
        self.note_loss()
        return super().after_loss(cwnd)

    def timeout(self, sender: Sender, now_us: int) -> None:
        self.note_loss()
        super().timeout(sender, now_us)

    def alpha(self) -> int:
        """Return alpha [2**-20]."""
        own, *_ = everyone = self.all()
        widest = max(one.window for one in everyone)
        best = max(one.quality() for one in everyone)
        largest = [one for one in everyone if one.window == widest]
        collected = [one for one in everyone if one.window < widest and one.quality() == best]
        if not collected:
            return 0
        if own.window == widest:
            return -(ONE // (len(everyone) * len(largest)))
        return ONE // (len(everyone) * len(collected)) if own.quality() == best else 0

    def every(self, sender: Sender, jiffies: int, second: int, acked: int, in_jiffies: int) -> int:
        own, alpha = self.seen(), self.alpha()
        moved = abs(alpha) // own.window * (1 if alpha > 0 else -1)
        self.growth += acked * (own.window * 2**40 // self.total(own.rtt) ** 2 + moved)
        whole = abs(self.growth) // ONE * (1 if self.growth > 0 else -1)
        self.growth -= whole * ONE
        sender.cwnd = max(sender.cwnd + whole, 1)
        if whole < 0:
            sender.ssthresh = min(sender.ssthresh, sender.cwnd)
        self.subflow.sender.counted = -acked
        return INFINITE


class Balia(Coupled):
    """BALIA (Peng et al. 2016)."""

    def every(self, sender: Sender, jiffies: int, second: int, acked: int, in_jiffies: int) -> int:
        own = self.seen()
        most = max(one.at(own.rtt) for one in self.all())
        share = self.total(own.rtt) ** 2 // (1024 * own.window + most)
        return max(10 * own.window * share // (4 * 1024 * own.window + most), 1)

    def after_loss(self, cwnd: int) -> int:
        most = max(one.at(self.seen().rtt) for one in self.all())
        return max(cwnd - min(ceil(most / 2048), ceil(3 * cwnd / 4)), 2)


COUPLED: dict[int, type[Coupled]] = {1: Lia, 2: Olia, 3: Balia}
