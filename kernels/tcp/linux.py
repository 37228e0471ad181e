"""A sender like that of Linux 2.6: SACK and forward acknowledgement, timestamps, rate halving.

Source: Sarolahti and Kuznetsov, "Congestion control in Linux TCP" (USENIX 2002), in the simplified form of
ns-2 (`Agent/TCP/Linux`): Wei and Cao, "NS-2 TCP-Linux" (WNS2 2006).

The sender keeps a number of packets in flight: cwnd or, after a cut, what is left of the old window, which
shrinks by a packet for every packet sent and so by one per two ACKs.  Lost packets go first.

A congestion control is a module like `aimd`: `grow` gives cwnd, `reduce` ssthresh, `acked` is called outside
of recoveries only, `rtt` is 0 at an ACK that is no good for measurement.  It may also have
`listen(packets, plain, now, rtt, size, memory)`, called at every ACK with the smoothed RTT [ns] and the
packets' payload (`plain`: it acknowledges new data, reports nothing out of order, and nothing is being
recovered), and `bottom(ssthresh, size, memory)`, the window during a recovery, else ssthresh.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from netcarlo.kernels.base.inline import cold
from netcarlo.kernels.base.layout import P, Rows
from netcarlo.kernels.path import engine as tcp
from netcarlo.kernels.tcp import scoreboard as linux_scoreboard
from netcarlo.kernels.tcp.recovery import AFTER_TIMEOUT, CUT, NONE, NORMAL, PHASE, RECOVER, RECOVERY, Variant

BURST = 3
"""After a recovery cwnd is at most so much above what is in flight [packet]."""

MS = 1_000_000  # [ns]

_CWND = linux_scoreboard.FREE  # [packet]
_HALVING = linux_scoreboard.FREE + 1  # in a recovery as many packets may be in flight, if more; else 0
_UNA = linux_scoreboard.FREE + 2  # highest packet acknowledged


def scratch_words(rows: Rows) -> tuple[int, int]:
    """Words of scratch and memory that any row of `rows` needs: those of `tcp`, timestamps, a scoreboard."""
    words, memory = tcp.scratch_words(rows)
    ring = int(rows.parameters[:, P.RING].max())
    return words + ring + 1 + linux_scoreboard.scratch_words(ring), memory


def measure(sent: Any, now: Any, phase: Any, tick: Any) -> Any:
    """The RTT from a timestamp, to the nearest tick."""
    return max((now - sent + (tick >> 1)) // tick, np.int64(1))


def smooth(rtt: Any, srtt: Any, rttvar: Any) -> Any:
    """As in `rto`, but a sample far below the mean raises the deviation by an eighth of the usual only."""
    if srtt == 0:
        return rtt << np.int64(3), rtt << np.int64(1)
    delta = rtt - (srtt >> np.int64(3))
    more = abs(delta) - (rttvar >> np.int64(2))
    if delta < 0 and more > 0:
        more >>= np.int64(3)
    return max(srtt + delta, np.int64(1)), rttvar + more


def make(dev: Callable[[Any], Any], control: Any) -> Variant:
    """Compile the sender over a congestion control."""
    board = linux_scoreboard.make(dev)
    prepare_board, flight, acknowledge, report = board.prepare, board.flight, board.acknowledge, board.report
    next_lost, resend, lose, clear = board.next_lost, board.resend, board.lose, board.clear
    control_grow, control_reduce = dev(control.grow), dev(control.reduce)

    def hear_nothing(packets: Any, now: Any, rtt: Any, f: Any) -> None:
        pass

    def count_nothing(packets: Any, f: Any) -> None:
        pass

    def listen_to_nothing(packets: Any, plain: Any, now: Any, rtt: Any, size: Any, f: Any) -> None:
        pass

    def at_ssthresh(ssthresh: Any, size: Any, f: Any) -> Any:
        return ssthresh

    acked = dev(getattr(control, "acked", count_nothing))
    heard = dev(getattr(control, "heard", hear_nothing))
    listen = dev(getattr(control, "listen", listen_to_nothing))
    bottom = dev(getattr(control, "bottom", at_ssthresh))

    @cold
    def prepare(m: Any, parameters: Any, free: Any) -> Any:
        m[_CWND] = parameters[P.INITIAL_WINDOW]
        m[_UNA] = NONE if parameters[P.HANDSHAKE] > 0 else 0
        return prepare_board(m, parameters, free)

    @cold
    def recover(
        m: Any, f: Any, parameters: Any, constants: Any, now: Any, rtt: Any, lost: Any,
        ack: Any, top: Any, ssthresh: Any,
    ) -> Any:  # fmt: skip
        # A recovery ends or begins.
        if m[PHASE] != NORMAL and ack >= m[RECOVER]:
            m[PHASE] = NORMAL
            m[_HALVING] = 0
            clear(m, parameters, ack)
            if m[_CWND] < ssthresh:
                m[_CWND] = min(ssthresh, flight(m, ack, top + 1) + BURST)
        elif m[PHASE] != RECOVERY and lost:
            m[PHASE] = RECOVERY
            m[RECOVER] = top
            m[_HALVING] = m[_CWND]
            ssthresh = int(control_reduce(float(m[_CWND]), False, now, rtt, constants, f))
            m[_CWND] = max(bottom(ssthresh, parameters[P.DATA], f), 1)
            return ssthresh, CUT
        return ssthresh, 0

    recover = dev(recover)

    def on_ack(
        m: Any, f: Any, parameters: Any, constants: Any, now: Any, rtt: Any, srtt: Any, echo: Any,
        at: Any, ack: Any, top: Any, ssthresh: Any,
    ) -> Any:  # fmt: skip
        una = m[_UNA]
        packets = ack - una
        before = flight(m, una, top + 1)
        acknowledge(m, parameters, ack, una)
        m[_UNA] = ack
        reported, lost = report(m, parameters, at, ack)
        plain = packets > 0 and not reported and m[PHASE] == NORMAL
        clock = now + parameters[P.CLOCK_PHASE]
        if packets > 0 and m[PHASE] == NORMAL:
            acked(packets, f)
        heard(packets, clock, rtt, f)
        listen(packets, plain, clock, srtt, parameters[P.DATA], f)
        if packets > 0 and m[PHASE] != RECOVERY and before >= m[_CWND]:
            sample = np.int64(0)
            if plain:
                sent = echo + parameters[P.CLOCK_PHASE] + MS // 2
                sample = max((clock // MS - sent // MS) * MS, np.int64(1))
            cwnd = control_grow(float(m[_CWND]), ssthresh, clock, sample, constants, f)
            m[_CWND] = min(np.int64(cwnd), max(m[_CWND], parameters[P.WINDOW]))
        order = 0
        if not plain:
            ssthresh, order = recover(m, f, parameters, constants, clock, rtt, lost, ack, top, ssthresh)
        cwnd = float(max(m[_CWND], m[_HALVING]))
        m[_HALVING] = min(m[_HALVING], flight(m, ack, top + 1) + 1)
        return cwnd, ssthresh, order

    @cold
    def timeout(
        m: Any, f: Any, parameters: Any, constants: Any, now: Any, rtt: Any,
        top: Any, dupacks: Any, cwnd: Any,
    ) -> Any:  # fmt: skip
        clock = now + parameters[P.CLOCK_PHASE]
        ssthresh = int(control_reduce(float(m[_CWND]), True, clock, rtt, constants, f))
        m[PHASE] = AFTER_TIMEOUT
        m[RECOVER] = top
        m[_CWND] = 1
        m[_HALVING] = 0
        lose(m, parameters, m[_UNA], top + 1)
        return 1.0, ssthresh, 0

    def next_packet(m: Any, parameters: Any, una: Any, seq: Any, last: Any, cwnd: Any) -> Any:
        out = flight(m, una, seq)
        if out >= max(m[_CWND], m[_HALVING]):
            return NONE
        packet = next_lost(m, parameters, una)
        if packet != NONE:
            resend(m, parameters, packet, seq)
        elif seq <= last:
            packet = seq
        else:
            return NONE
        m[_HALVING] = min(m[_HALVING], max(out, 1))
        return packet

    def nothing(m: Any, parameters: Any, packet: Any, now: Any) -> None:
        pass

    return Variant(
        dev(prepare), None, None, None, dev(timeout), dev(next_packet), dev(nothing), None,
        sack=True, on_ack=dev(on_ack), clock=(measure, smooth),
    )  # fmt: skip
