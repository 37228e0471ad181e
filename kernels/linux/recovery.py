"""Loss recovery: what an ACK that is out of the ordinary does, and a timeout.

Source: RFC 5681, RFC 6675 (states), RFC 8985 (RACK-TLP), RFC 5682 (F-RTO with SACK), RFC 6937 (PRR).
"""

from typing import Any

import numpy as np

from netcarlo.kernels.base.bind import slot
from netcarlo.kernels.base.inline import noinline
from netcarlo.kernels.linux import board, clocks, pacing, prr, rack, timer, undo
from netcarlo.kernels.linux.state import (
    NONE,
    PACED,
    Packet,
    Send,
    State,
    Tcp,
    Timer,
    in_flight,
    packet_at,
    window_of,
)

control: Any = slot("control")


@noinline
def find_losses(p: Any, s: Any, now: Any) -> Any:
    """Judge the packets if there are news of arrivals; returns whether the reordering timer was set."""
    if s[Tcp.UNA] == s[Tcp.NXT] or s[Tcp.RACK_NEWS] == 0:
        return False
    s[Tcp.RACK_NEWS] = 0
    wait = rack.detect(p, s, clocks.us_of(now))
    if wait > 0:
        timer.set_timer(p, s, now, Timer.REORDERING, clocks.to_jiffies(s, wait + timer.MARGIN_US))
    return wait > 0


@noinline
def enter(p: Any, s: Any, now: Any) -> None:
    """Something is lost: fast recovery begins."""
    s[Tcp.PRIOR_SSTHRESH] = 0
    undo.watch(s)
    if s[Tcp.STATE] != State.CWR and s[Tcp.STATE] != State.RECOVERY:
        s[Tcp.PRIOR_SSTHRESH] = prr.present_ssthresh(s)
        prr.begin(p, s, now)
    s[Tcp.STATE] = State.RECOVERY
    s[Tcp.FAST_RETRANSMITS] += 1


@noinline
def take(p: Any, s: Any, now: Any, echo: Any, news: Any) -> Any:
    """An ACK with this timestamp [ms] while something is missing, or that says so.

    Returns whether the reordering timer was set.
    """
    if s[Tcp.STATE] == State.OPEN:
        s[Tcp.FIRST_AGAIN] = NONE
    elif s[Tcp.UNA] >= s[Tcp.HIGH] and s[Tcp.STATE] == State.RECOVERY:
        undo.in_full(p, s, echo)
        if not PACED:
            prr.end(s)
    before, again, first = s[Tcp.STATE], s[Tcp.AGAIN], np.int64(Send.NEW)
    recovering = before == State.RECOVERY
    if recovering and news.acked > 0 and undo.partly(p, s, s[Tcp.UNA] - news.acked, echo):
        return False
    if before == State.LOSS:
        first = _after_timeout(p, s, echo, news)
    elif undo.by_duplicates(p, s) and recovering:
        _try_to_open(p, s)
    waits = find_losses(p, s, now)
    if first != Send.NEW:
        s[Tcp.SEND] = first
    if before == State.LOSS and s[Tcp.STATE] != State.OPEN and s[Tcp.AGAIN] >= again:
        return waits
    if recovering and s[Tcp.STATE] == State.RECOVERY:
        s[Tcp.SEND] = Send.LOST
    elif s[Tcp.LOST] > 0:
        enter(p, s, now)
        s[Tcp.SEND] = Send.LOST
    elif not recovering:
        _try_to_open(p, s)
    return waits


@noinline
def _try_to_open(p: Any, s: Any) -> None:
    if not undo.any_again(p, s):
        s[Tcp.FIRST_AGAIN] = NONE
    if s[Tcp.STATE] != State.CWR:
        undo.keep_open(p, s)


@noinline
def _after_timeout(p: Any, s: Any, echo: Any, news: Any) -> Any:
    """An ACK after a timeout; what may go out first (RFC 5682, section 3.1)."""
    recovered = s[Tcp.UNA] >= s[Tcp.HIGH]
    if news.acked > 0 and undo.after_timeout(p, s, echo, False):
        return np.int64(Send.NEW)
    if s[Tcp.FRTO] != 0:
        if news.original and undo.after_timeout(p, s, echo, True):
            return np.int64(Send.NEW)
        if s[Tcp.NXT] > s[Tcp.HIGH]:
            if news.reported or (news.acked == 0 and not news.duplicate):
                s[Tcp.FRTO] = 0  # new packets arrive, the old ones do not
        elif news.acked > 0 and not recovered:
            s[Tcp.HIGH] = s[Tcp.NXT]
            if s[Tcp.NXT] <= s[Tcp.LAST]:
                return np.int64(Send.NEW_FIRST)
            s[Tcp.FRTO] = 0
    if recovered:
        undo.in_full(p, s, echo)
        return np.int64(Send.NEW)
    return np.int64(Send.LOST)


@noinline
def after_probe(p: Any, s: Any, now: Any, news: Any) -> None:
    """A tail loss probe may have been answered (RFC 8985, 7.4)."""
    ack = s[Tcp.UNA]
    if ack < s[Tcp.PROBED]:
        return
    if s[Tcp.PROBE_AGAIN] == 0 or news.duplicate:
        s[Tcp.PROBED] = NONE
    elif ack > s[Tcp.PROBED]:  # it repaired a loss, which nothing else told of
        prr.begin(p, s, now)
        s[Tcp.STATE] = State.CWR
        if not PACED:
            prr.end(s)
        undo.keep_open(p, s)
    elif news.acked == 0 and not news.reported:
        s[Tcp.PROBED] = NONE


@noinline
def on_timeout(p: Any, s: Any, now: Any) -> None:
    """The retransmission timer has gone off: what was sent long enough ago is lost, begin with one packet."""
    fresh = s[Tcp.STATE] < State.RECOVERY
    una, nxt, now_us = s[Tcp.UNA], s[Tcp.NXT], clocks.us_of(now)
    for packet in range(una, nxt):
        sent = s[packet_at(p, s, packet) + Packet.SENT]
        old = packet == una or s[Tcp.RACK_RTT] - (now_us - sent) <= 0
        if old and not board.is_reported(p, s, packet):
            board.lose(p, s, packet)
    if s[Tcp.STATE] <= State.DISORDER or s[Tcp.HIGH] <= una or (
        s[Tcp.STATE] == State.LOSS and s[Tcp.RETRIES] == 0
    ):  # fmt: skip
        s[Tcp.PRIOR_SSTHRESH] = prr.present_ssthresh(s)
        s[Tcp.PRIOR_WINDOW] = s[Tcp.CWND]
        s[Tcp.SSTHRESH] = control.ssthresh(s)
        s[Tcp.REDUCTIONS] += 1
        undo.watch(s)
    s[Tcp.CWND] = in_flight(s) + 1
    s[Tcp.COUNTED] = 0
    if s[Tcp.STATE] <= State.DISORDER and s[Tcp.SACKED] >= rack.THRESHOLD:
        s[Tcp.REORDERING] = min(s[Tcp.REORDERING], np.int64(rack.THRESHOLD))
    if PACED:
        control.time_out(p, s)
    else:
        control.lose(s, now)
    s[Tcp.STATE] = State.LOSS
    s[Tcp.HIGH] = nxt
    s[Tcp.PROBED] = NONE
    s[Tcp.FRTO] = 1 if fresh or s[Tcp.RETRIES] > 0 else 0
    s[Tcp.RETRIES] += 1
    s[Tcp.TIMEOUTS] += 1
    s[Tcp.FORCED] = una


@noinline
def on_reordering(p: Any, s: Any, now: Any) -> None:
    """What should have arrived by now is lost."""
    pipe, losses = in_flight(s), s[Tcp.LOSSES]
    rack.detect(p, s, clocks.us_of(now))
    if in_flight(s) != pipe:
        if s[Tcp.STATE] != State.RECOVERY:
            enter(p, s, now)
            if not PACED:
                prr.reduce(s, 1, s[Tcp.LOSSES] - losses, False)
        s[Tcp.SEND] = Send.LOST
        s[Tcp.PUSH] = 1
    if s[Tcp.TIMER] != Timer.RETRANSMISSION:
        timer.rearm(p, s, now)


@noinline
def on_probe(p: Any, s: Any, now: Any) -> None:
    """No ACK for two round trips: a new packet goes out whatever the window, or the last one again."""
    if s[Tcp.PROBED] != NONE:
        timer.rearm(p, s, now)
        return
    new = s[Tcp.NXT] <= s[Tcp.LAST] and s[Tcp.NXT] < s[Tcp.UNA] + window_of(p, s)
    if PACED and new and not pacing.is_open(s, now):
        timer.rearm(p, s, now)
        return
    s[Tcp.PROBE_AGAIN] = 0
    if new:
        s[Tcp.FORCED] = s[Tcp.NXT]
    else:
        s[Tcp.FORCED] = s[Tcp.NXT] - 1
        s[Tcp.PROBE_AGAIN] = 1
    s[Tcp.PROBED] = NONE - 1  # until it is out
