"""Windows of an SCTP association over shared links and ad hoc networks, in packets of one chunk.

Source: RFC 4960, sections 7.2.1 to 7.2.4, as implemented by ns-2 (`docs/models/sctp.md`) and by the fluid of
paths (`failover`). Losses are detected and recovered as with SACK (`loss`), because gap ack blocks report all
of them.

`g` are the floats of a flow (`FlowFloat`), `p` its columns.
"""

from typing import Any

import numpy as np

from netcarlo.kernels.base.parameters import ReliableP, RowP, SctpP
from netcarlo.kernels.fluid.state import FlowFloat

HANDSHAKE_ROUNDS = 2
"""Round trips of INIT and INIT-ACK, COOKIE-ECHO and COOKIE-ACK (RFC 4960, section 5.1)."""


def begin(g: Any, p: Any) -> None:
    """Initialise the windows [packet] from the columns, which are in bytes."""
    chunk = float(p[RowP.DATA] + p[RowP.CHUNK_HEADER])
    g[FlowFloat.CWND] = float(p[SctpP.INITIAL_CWND]) / chunk
    g[FlowFloat.SSTHRESH] = float(p[ReliableP.INITIAL_SSTHRESH]) / chunk
    g[FlowFloat.RECEIVE_WINDOW] = float(p[SctpP.RWND] // (p[RowP.DATA] + p[RowP.CHUNK_HEADER]))


def rounds_before_data(p: Any) -> Any:
    """Return the number of round trips from the start of the association to its first data."""
    return HANDSHAKE_ROUNDS + p[SctpP.PROBE_FIRST]


def in_flight(g: Any) -> Any:
    """Return the window in whole packets [packet].

    While less than cwnd is outstanding, another packet may be sent. Beyond ssthresh cwnd grows in steps of a
    packet, when a window of packets is acknowledged (RFC 4960, section 7.2.2).
    """
    cwnd, beyond = g[FlowFloat.CWND], g[FlowFloat.CWND] - g[FlowFloat.SSTHRESH]
    if beyond > 0.0:
        cwnd -= beyond - float(int(beyond))
    packets = np.int64(cwnd)
    if float(packets) < cwnd:
        packets += 1
    return min(packets, np.int64(g[FlowFloat.RECEIVE_WINDOW]))


def window(g: Any, delayed: Any) -> Any:
    """Return the number of packets that a round trip carries [packet].

    While less than cwnd is outstanding, another packet may be sent. If a SACK acknowledges two packets,
    `delayed`, the first waits for the second, so that half a packet of the window is idle.
    """
    whole = int(g[FlowFloat.CWND])
    packets = min(whole + (1 if float(whole) < g[FlowFloat.CWND] else 0), int(g[FlowFloat.RECEIVE_WINDOW]))
    return float(packets) - (0.5 if delayed and packets > 1 else 0.0)


def grow(g: Any, packets: Any, sacks: Any) -> None:
    """Increase the window after the SACKs of `packets` delivered packets.

    Up to ssthresh it grows by a packet per SACK (RFC 4960, section 7.2.1), beyond by a packet per window of
    acknowledged packets (section 7.2.2).
    """
    cwnd, end = g[FlowFloat.CWND], g[FlowFloat.SSTHRESH]
    if cwnd > g[FlowFloat.RECEIVE_WINDOW]:  # the window was not fully used
        return
    if cwnd <= end:
        g[FlowFloat.CWND] = min(cwnd + sacks, max(end + 1.0, cwnd))
    else:
        g[FlowFloat.CWND] = cwnd + packets / cwnd


def _halved(p: Any, cwnd: Any) -> Any:
    """Return ssthresh after a loss with the window `cwnd` [packet]."""
    floor = float(p[SctpP.SSTHRESH_FLOOR]) / float(p[RowP.DATA] + p[RowP.CHUNK_HEADER])
    return max(cwnd / 2.0, floor)


def react(g: Any, p: Any, cwnd: Any, ssthresh: Any, quick: Any) -> None:
    """Set the windows after a fast retransmit, if `quick`, or after a timeout (RFC 4960, section 7.2.3).

    `cwnd` and `ssthresh` are the windows before it [packet]. A timeout with a window of one packet does not
    change ssthresh, as in ns-2.
    """
    g[FlowFloat.SSTHRESH] = _halved(p, cwnd) if quick or cwnd > 1.0 else ssthresh
    g[FlowFloat.CWND] = min(g[FlowFloat.SSTHRESH], g[FlowFloat.RECEIVE_WINDOW]) if quick else 1.0


def reduce(g: Any, p: Any, before: Any) -> None:
    """Reduce a window of `before` packets after a loss (RFC 4960, section 7.2.3).

    The new window is ssthresh, or after a timeout the one packet that `loss` has set.
    """
    g[FlowFloat.SSTHRESH] = _halved(p, before)
    if g[FlowFloat.CWND] > 1.0:
        g[FlowFloat.CWND] = g[FlowFloat.SSTHRESH]
