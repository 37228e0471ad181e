"""SCTP association over the route in use of an ad hoc network: its handshake.

Its rounds are those of TCP (`sender`), with the windows of `fluid.association`.

`m` and `s` are the scratch of the row and the words of the flow, `g` its floats, see `state`.
"""

from typing import Any

from netcarlo.kernels.base.inline import noinline
from netcarlo.kernels.base.parameters import RowP, SctpP
from netcarlo.kernels.fluid import timer
from netcarlo.kernels.fluid.adhoc import route
from netcarlo.kernels.fluid.adhoc.reactions import trip
from netcarlo.kernels.fluid.adhoc.sender import advance as advance
from netcarlo.kernels.fluid.adhoc.sender import is_done as is_done
from netcarlo.kernels.fluid.adhoc.sender import prepare as prepare
from netcarlo.kernels.fluid.adhoc.sender import report as report
from netcarlo.kernels.sctp.handshake import MAX_INIT_RETRANS
from netcarlo.kernels.sctp.state import COOKIE_BYTES, HEARTBEAT_BYTES, INIT_BYTES


@noinline
def begin(m: Any, s: Any, g: Any, times: Any, places: Any) -> Any:
    """Find the first route and perform the handshake; return when the first data are sent [ns].

    INIT is retransmitted while there is no route. The association fails after too many retransmissions
    (RFC 4960, section 5.1); then the result is the end of the run.
    """
    t = route.discover(m, s, times, places, m[RowP.START])
    if t >= m[RowP.END]:
        return t
    answered, tries = t + trip(m, INIT_BYTES), 0
    expires = m[RowP.START] + timer.length(s, m)
    while expires < answered:
        if tries == MAX_INIT_RETRANS:
            return m[RowP.END]
        tries += 1
        timer.back_off(s, m)
        expires += timer.length(s, m)
    t = answered + trip(m, COOKIE_BYTES)
    if m[SctpP.PROBE_FIRST] > 0:
        timer.measure(s, m, t, t + trip(m, HEARTBEAT_BYTES))
        t += trip(m, HEARTBEAT_BYTES)
    return t
