"""Loss recovery of today's Linux in the fluid: RACK-TLP (RFC 8985) and proportional rate reduction (PRR, RFC
6937).

One packet that arrives after the lost ones reports them all. A lost retransmission is detected a round trip
later and sent again, without another reduction. If no packet arrives after the lost ones, a tail loss probe
reports them two round trips later. The timer expires if the probe is also lost, or if a single packet was in
flight.
"""

from typing import Any

import numpy as np

from netcarlo.kernels.base.parameters import RowP
from netcarlo.kernels.base.philox import draw
from netcarlo.kernels.fluid import bbr3, linux
from netcarlo.kernels.fluid.state import ONE_BITS, STREAM_REPAIR, FlowFloat, FlowWord, State
from netcarlo.kernels.senders import LINUX_BBR3
from netcarlo.kernels.shared.layout import FlowOut

PROBE_ROUNDS = 3
"""Round trips from the earliest possible loss detection to the ACK of the tail loss probe: two until it is
sent, and its own."""
MOST_ROUNDS = 16
"""Largest number of round trips of a recovery, in each of which a retransmission is lost again."""


def recover(s: Any, g: Any, p: Any, t: Any, rtt: Any, chance: Any, rto: Any) -> None:
    """Recover, from `t` on, the FlowWord.LOST_IN_ROUND lost packets.

    `chance` is the probability that one of their retransmissions is lost [ONE_BITS], `rto` the backed-off
    timeout; arguments as for `loss.detect`.
    """
    kind = s[FlowWord.KIND]
    packets = max(np.int64(g[FlowFloat.CWND]), np.int64(1))
    hits = min(max(s[FlowWord.LOST_IN_ROUND], np.int64(1)), packets)
    each = chance // hits
    one_round = np.int64(rtt + 0.5)
    probing = hits == packets
    s[FlowWord.COUNTS + FlowOut.CWND_CUTS] += 1
    if probing and (packets == 1 or rto < 2 * one_round or _is_lost(s, p, t, 0, each)):
        again = s[FlowWord.BACKOFF] > 1
        if kind == LINUX_BBR3:
            bbr3.on_timeout(g)
        else:
            linux.on_timeout(g, kind, again)
        s[FlowWord.COUNTS + FlowOut.TIMEOUTS] += 1
        s[FlowWord.STATE] = State.RTO_WAIT
        s[FlowWord.UNTIL] = t + rto - (one_round if again else 0)  # the timer started at the transmission
        s[FlowWord.RECOVER] = 2 << ONE_BITS  # the retransmission measures no round trip
    else:
        if kind == LINUX_BBR3:
            bbr3.on_losses(g, hits)
        else:
            linux.on_recovery(g, kind)
        s[FlowWord.COUNTS + FlowOut.FAST_RETRANSMITS] += 1
        rounds = np.int64(1)
        while rounds < MOST_ROUNDS and _is_lost(s, p, t, rounds, chance if rounds == 1 else each):
            rounds += 1
        waits = one_round * PROBE_ROUNDS if probing else _stall(g, packets, rounds)
        s[FlowWord.STATE] = State.PROBE_WAIT if waits > 0 else State.RECOVERY
        s[FlowWord.UNTIL] = t + (waits if waits > 0 else one_round * rounds)


def _stall(g: Any, packets: Any, rounds: Any) -> Any:
    """Return the time in which the slowest link is idle because the receive window forbids new data.

    This time begins at the first lost packet, after which `packets` are in flight. The recovery takes
    `rounds` round trips, in each of which the link serves its queue first.
    """
    room = g[FlowFloat.RECEIVE_WINDOW] - float(packets)
    wanted = max(g[FlowFloat.CWND], 1.0)
    if room >= wanted:
        return np.int64(0)
    return np.int64(g[FlowFloat.MIN_RTT] * float(rounds) * (1.0 - max(room, 0.0) / wanted))


def _is_lost(s: Any, p: Any, t: Any, k: Any, chance: Any) -> Any:
    """Return whether the probe (`k` = 0) or the k-th retransmission of the recovery from `t` on is lost."""
    stream = STREAM_REPAIR + s[FlowWord.NUMBER]
    word, _, _, _ = draw(p[RowP.SEED], p[RowP.SCENARIO], p[RowP.REPLICATION], stream, t * MOST_ROUNDS + k)
    return np.int64(word) >> (32 - ONE_BITS) < chance
