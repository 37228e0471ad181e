"""Processing of the receiver's packets at the sender: acknowledgements, RTT samples and lost packets.

Source: RFC 9002, sections 5, 6.1, 7.3, 7.6 and 7.8, appendices A.7 to A.10 and B.5 to B.9. A packet that was
declared lost is forgotten: its late acknowledgement changes nothing.
"""

from typing import Any

import numpy as np

from netcarlo.kernels.base.inline import noinline
from netcarlo.kernels.base.layout import FOREVER
from netcarlo.kernels.base.parameters import ReliableP, RowP
from netcarlo.kernels.quic import control, hystart, sender, timers
from netcarlo.kernels.quic.state import (
    INITIAL_BYTES,
    NONE,
    Answer,
    Chunk,
    Fate,
    Flag,
    Packet,
    Phase,
    Word,
    chunk_at,
    is_acked,
    packet_at,
    rounds,
)

PACKET_THRESHOLD = 3
"""Reordering in packets (`kPacketThreshold`)."""
PERSISTENT = 3
"""Probe timeouts of persistent congestion (`kPersistentCongestionThreshold`)."""


@noinline
def measure(s: Any, rtt: Any, delay: Any) -> None:
    """Process an RTT sample with the delay of its ACK [ns] (`UpdateRtt`, RFC 9002, appendix A.7)."""
    s[Word.LATEST_RTT] = rtt
    if s[Word.FIRST_SAMPLE] == NONE:
        s[Word.FIRST_SAMPLE] = s[Word.NOW]
        s[Word.MIN_RTT] = rtt
        s[Word.SMOOTHED_RTT] = rtt
        s[Word.RTT_VARIATION] = rtt // 2
        return
    s[Word.MIN_RTT] = min(s[Word.MIN_RTT], rtt)
    adjusted = rtt - delay if rtt >= s[Word.MIN_RTT] + delay else rtt
    deviation = abs(s[Word.SMOOTHED_RTT] - adjusted)
    s[Word.RTT_VARIATION] = (3 * s[Word.RTT_VARIATION] + deviation) // 4
    s[Word.SMOOTHED_RTT] = (7 * s[Word.SMOOTHED_RTT] + adjusted) // 8


@noinline
def on_reply(p: Any, s: Any, hello: Any) -> None:
    """Process the server's answer to handshake packet `hello`."""
    at = packet_at(p, s, hello)
    if s[Word.PHASE] != Phase.WAITING or s[at + Packet.CHUNK] != -s[Word.ROUND]:
        return
    measure(s, s[Word.NOW] - s[at + Packet.SENT], np.int64(0))
    s[Word.PTO_COUNT] = 0
    s[Word.HELLO] = 0
    s[Word.CWND] += INITIAL_BYTES  # acknowledged in slow start
    if s[Word.ROUND] < rounds(p):
        s[Word.ROUND] += 1
        s[Word.HELLO] = 1
        timers.start_handshake(p, s)
    else:
        s[Word.PHASE] = Phase.ESTABLISHED
        s[Word.TIMER] = FOREVER
        timers.start(p, s)


@noinline
def on_ack(p: Any, s: Any, at: Any) -> None:
    """Process the ACK frame at word `at` (`OnAckReceived`)."""
    first, end = s[Word.ARRIVALS_ACKED], s[at + Answer.ARRIVALS]
    if s[Word.PHASE] != Phase.ESTABLISHED or end <= first:
        return
    # A window that was not used does not grow (RFC 9002, section 7.8).
    used = s[Word.PACE_TIMER] != FOREVER or not timers.has_room(p, s)
    newly, grown, rtt = np.int64(0), np.int64(0), np.int64(NONE)
    for arrival in range(first, end):
        number = s[s[Word.LOG] + (arrival & (p[RowP.RING] - 1))]
        of_packet = packet_at(p, s, number)
        if number < s[at + Answer.FLOOR] or s[of_packet + Packet.FATE] != Fate.FLYING:
            continue
        s[of_packet + Packet.FATE] = Fate.ACKED
        newly += s[Word.DATAGRAM]
        if s[of_packet + Packet.SENT] > s[Word.RECOVERY_START]:
            grown += s[Word.DATAGRAM]
        if number == s[at + Answer.LARGEST]:
            rtt = s[Word.NOW] - s[of_packet + Packet.SENT]
        _acknowledge(p, s, s[of_packet + Packet.CHUNK])
    s[Word.ARRIVALS_ACKED] = end
    s[Word.LARGEST_ACKED] = max(s[Word.LARGEST_ACKED], s[at + Answer.LARGEST])
    if newly == 0:
        return
    s[Word.IN_FLIGHT] -= newly
    s[Word.PTO_COUNT] = 0
    s[Word.PROBES] = 0
    sender.trim(p, s)
    if rtt != NONE:
        measure(s, rtt, min(s[at + Answer.DELAY], p[ReliableP.ACK_DELAY]))
    before = s[Word.RECOVERY_START]
    detect_lost(p, s)
    if s[Word.RECOVERY_START] != before:  # all of them were sent before a new recovery period
        grown = newly if s[Word.RECOVERY_START] == NONE else np.int64(0)
    if used and grown > 0:
        control.grow(p, s, s[Word.NOW], grown)
    hystart.on_ack(s, rtt)
    timers.start(p, s)


def _acknowledge(p: Any, s: Any, chunk: Any) -> None:
    """Record that a chunk has arrived."""
    if is_acked(p, s, chunk):
        return
    s[chunk_at(p, s, chunk) + Chunk.FLAGS] |= Flag.ACKED
    while s[Word.UNACKED_CHUNK] < s[Word.NEXT_CHUNK] and (
        s[chunk_at(p, s, s[Word.UNACKED_CHUNK]) + Chunk.FLAGS] & Flag.ACKED != 0
    ):
        s[Word.UNACKED_CHUNK] += 1
    s[Word.LAST_ACKED] = s[Word.UNACKED_CHUNK] - 1


@noinline
def detect_lost(p: Any, s: Any) -> None:
    """Declare packets lost by the packet or the time threshold (RFC 9002, section 6.1); reduce the window.

    The lost packets come first, because numbers and times of sending increase alike.
    """
    now, newest, run = s[Word.NOW], np.int64(NONE), np.int64(NONE)
    delay = max(9 * max(s[Word.LATEST_RTT], s[Word.SMOOTHED_RTT]) // 8, timers.GRANULARITY)
    period = s[Word.SMOOTHED_RTT] + max(4 * s[Word.RTT_VARIATION], timers.GRANULARITY)
    period = PERSISTENT * (period + p[ReliableP.ACK_DELAY])
    s[Word.LOSS_TIME] = FOREVER
    persistent = False
    number = s[Word.OLDEST]
    while number < s[Word.LARGEST_ACKED] and s[Word.LOSS_TIME] == FOREVER:
        at = packet_at(p, s, number)
        fate, sent = s[at + Packet.FATE], s[at + Packet.SENT]
        if fate == Fate.ACKED:
            run = np.int64(NONE)
        elif fate == Fate.FLYING:
            if s[Word.LARGEST_ACKED] >= number + PACKET_THRESHOLD or sent + delay <= now:
                s[at + Packet.FATE] = Fate.LOST
                s[Word.IN_FLIGHT] -= s[Word.DATAGRAM]
                sender.put_back(p, s, s[at + Packet.CHUNK])
                newest = sent
                if run == NONE and sent > s[Word.FIRST_SAMPLE]:
                    run = sent
                persistent = persistent or (run != NONE and sent - run > period)
            else:
                s[Word.LOSS_TIME] = sent + delay
        number += 1
    sender.skip(p, s)
    if newest > s[Word.RECOVERY_START]:
        s[Word.RECOVERY_START] = now
        s[Word.RECOVERIES] += 1
        s[Word.REDUCTIONS] += 1
        control.reduce(p, s)
    if persistent:
        s[Word.RECOVERY_START] = NONE
        s[Word.REDUCTIONS] += 1
        s[Word.MIN_RTT] = s[Word.LATEST_RTT]
        control.collapse(p, s)


@noinline
def on_timer(p: Any, s: Any) -> None:
    """Process the expiry of the timer of the handshake or of loss detection (`OnLossDetectionTimeout`)."""
    if s[Word.PHASE] == Phase.WAITING:
        s[Word.HELLO] = 1
        s[Word.PTO_COUNT] += 1
        timers.start_handshake(p, s)
    elif s[Word.LOSS_TIME] != FOREVER:
        detect_lost(p, s)
        timers.start(p, s)
    else:
        s[Word.TIMEOUTS] += 1
        s[Word.PTO_COUNT] += 1
        s[Word.PROBES] = 2
        s[Word.PROBE_CHUNK] = s[Word.UNACKED_CHUNK]
        s[Word.LAST_SENT] = s[Word.NOW]
        timers.start(p, s)
