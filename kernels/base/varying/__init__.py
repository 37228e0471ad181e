"""Service of packets that varies on a hop or link: trace, shaper, framing, policer, jitter, correlated loss.

A *trace* is piecewise constant, or a list of opportunities to send (`trace`). A *shaper* delays packets until
a token bucket has their tokens (`shaper`), a *policer* drops them (`policer`). *Framing* is what the link
adds to a packet (`framing`). A *jitter* is added to every delay by the quantiles of its distribution, and
losses may be correlated (`departure`).

All of it is stored in pairs, after the outages of a hop (`Rows.outages`, from `Hop.VARIES` on) or after the
columns of a link (`SharedRows.links`, from `Link.VARIES` on):

    byte time of the policer, 0 without [as `Hop.BYTE_TIME`]     its burst [ns]
    STEPS, OPPORTUNITIES or 0                                    entries of the trace
    period of the trace, or 0 if it does not repeat [ns]         pairs of the jitter, negative if it reorders
    byte time of the line, if it is not that of the hop          1 if it is this one
    overhead of a packet [byte]                                  its least size with overhead [byte]
    1 if packets are carried in ATM cells                        0
    byte time of the shaper, 0 without                           its burst [ns]
    byte time of its peak rate, 0 without                        burst at the peak rate [ns]
    threshold of correlated loss, 0 without [2**-32]             its correlation [2**-32]
    of each entry: its start, or time [ns]                       byte time (0: nothing leaves), or bytes
        and, unless it is an opportunity: delay [ns]             P(lost) * 2**32
    of each pair of quantiles of the jitter: the lower [ns]      the upper

FOREVER is added to the first number of each pair, so that none is taken for an outage. `table` holds the
pairs; the state of a hop in one direction begins at word `v` of scratch `m`.
"""

from netcarlo.kernels.base.varying.departure import arrival, reorders
from netcarlo.kernels.base.varying.policer import conforms
from netcarlo.kernels.base.varying.service import transmission
from netcarlo.kernels.base.varying.table import (
    DROPPED,
    HEAD,
    JITTER_BITS,
    OPPORTUNITIES,
    STALLED,
    STEPS,
    WORDS,
    Head,
    Varying,
    prepare,
    reset,
)

__all__ = [
    "DROPPED",
    "HEAD",
    "JITTER_BITS",
    "OPPORTUNITIES",
    "STALLED",
    "STEPS",
    "WORDS",
    "Head",
    "Varying",
    "arrival",
    "conforms",
    "prepare",
    "reorders",
    "reset",
    "transmission",
]
