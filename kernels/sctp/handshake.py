"""How an SCTP association begins: four-way handshake and first probe of the paths.

Source: RFC 2960 section 5 and RFC 4460 section 5.4 (path verification), as ns-2 carries them out.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

from netcarlo.kernels.base.inline import cold
from netcarlo.kernels.base.layout import FOREVER, NEVER, PATHS, Hop, Out, P
from netcarlo.kernels.sctp import state as st
from netcarlo.kernels.sctp.paths import Paths

MAX_INIT_RETRANS = 8
"""INITs and COOKIE-ECHOs, together, that are repeated before the sender gives up."""


class Handshake(NamedTuple):
    """Compiled functions; `p` are the parameters of a row, `s` is scratch."""

    begin: Any
    """`(p, s, hops, outages, free)` sets the state at the start; scratch is free from `free` on."""
    t1_due: Any
    """`(p, s, now)`: the application starts, or INIT or COOKIE-ECHO was not answered."""
    answered: Any
    """`(p, s, now)`: the sender, still waiting, gets a packet and takes it for the answer."""
    open: Any
    """`(p, s, now)`: the receiver gets its first COOKIE-ECHO."""
    on_heartbeat_ack: Any
    """`(p, s, now, way, sent)`: the answer to a heartbeat put out on `way` at `sent`."""


def make_handshake(dev: Callable[[Any], Any], paths: Paths) -> Handshake:
    """Compile the functions of `Handshake` for a target."""
    put, measure, recover = paths.put, paths.measure, paths.recover
    heartbeat, start_heartbeats = paths.heartbeat, paths.start_heartbeats

    @cold
    def begin(p: Any, s: Any, hops: Any, outages: Any, free: Any) -> None:
        for word in range(st.STATE_SIZE):
            s[word] = st.OFF if word < st.EVENTS else 0
        for way in range(st.WAYS):
            w = st.WAY + way * st.WAY_SIZE
            s[w + st.STATUS] = st.ACTIVE
            s[w + st.RTO] = p[P.INITIAL_RTO]
            s[w + st.CWND] = p[P.INITIAL_CWND]
            s[w + st.SSTHRESH] = p[P.INITIAL_SSTHRESH]
        for end in range(2):
            e = st.ENDPOINT + end * st.ENDPOINT_SIZE
            s[e + st.PRIMARY] = end * PATHS
            s[e + st.CURRENT] = end * PATHS
        s[st.T1] = p[P.START]
        s[st.PACKETS] = free
        s[st.CHUNKS] = free + p[P.RING] * st.WAYS * st.PACKET_SIZE
        s[st.CHUNK] = p[P.DATA] + p[P.CHUNK_HEADER]
        s[st.FIRST_OUTAGE] = FOREVER
        for hop in range(hops.shape[1]):
            for path in range(PATHS):
                if hops[path, hop, Hop.PRESENT] == 1:
                    w = st.WAY + path * st.WAY_SIZE
                    s[w + st.LAST_BYTE_TIME] = hops[path, hop, Hop.BYTE_TIME]
                    s[w + st.LAST_DELAY] = hops[path, hop, Hop.DELAY]
            if outages.shape[2] > 0:
                s[st.FIRST_OUTAGE] = min(s[st.FIRST_OUTAGE], outages[0, hop, 0, 0])
        for column in (Out.FIRST_RX, Out.LAST_RX, Out.RESUME_TX, Out.RESUME_RX, Out.COMPLETED):
            s[st.COUNT + column] = NEVER

    @cold
    def request(p: Any, s: Any, now: Any) -> None:
        # Send INIT or COOKIE-ECHO, and wait for the answer.
        way = s[st.ENDPOINT + st.PRIMARY]
        if s[st.ENDPOINT + st.STATE] == st.COOKIE_WAIT:
            put(p, s, now, way, st.INIT, st.INIT_BYTES, 0, 0, 0)
        else:
            put(p, s, now, way, st.COOKIE_ECHO, st.COOKIE_BYTES, 0, 0, 0)
        s[st.COUNT + Out.HANDSHAKES] += 1
        s[st.T1] = now + s[st.WAY + way * st.WAY_SIZE + st.RTO]

    request = dev(request)

    @cold
    def t1_due(p: Any, s: Any, now: Any) -> None:
        if s[st.ENDPOINT + st.STATE] == st.CLOSED:
            s[st.ENDPOINT + st.STATE] = st.COOKIE_WAIT
            request(p, s, now)
        elif s[st.TRIES] == MAX_INIT_RETRANS:
            s[st.ENDPOINT + st.STATE] = st.CLOSED
            s[st.T1] = st.OFF
        else:
            s[st.TRIES] += 1
            w = st.WAY + s[st.ENDPOINT + st.PRIMARY] * st.WAY_SIZE
            s[w + st.RTO] = min(2 * s[w + st.RTO], p[P.MAX_RTO])
            request(p, s, now)

    @cold
    def answered(p: Any, s: Any, now: Any) -> None:
        if s[st.ENDPOINT + st.STATE] == st.COOKIE_WAIT:
            s[st.ENDPOINT + st.STATE] = st.COOKIE_ECHOED
            request(p, s, now)
            return
        s[st.ENDPOINT + st.STATE] = st.ESTABLISHED
        s[st.T1] = st.OFF
        s[st.PEER_RWND] = p[P.RWND]
        if p[P.PROBE_FIRST] == 0:
            start_heartbeats(p, s, now, st.SENDER)
            s[st.SEND_NEW] = 1
            return
        for way in range(p[P.N_PATHS]):
            s[st.WAY + way * st.WAY_SIZE + st.STATUS] = st.UNCONFIRMED
            heartbeat(p, s, now, way)

    @cold
    def open_(p: Any, s: Any, now: Any) -> None:
        s[st.ENDPOINT + st.ENDPOINT_SIZE + st.STATE] = st.ESTABLISHED
        start_heartbeats(p, s, now, st.RECEIVER)

    @cold
    def on_heartbeat_ack(p: Any, s: Any, now: Any, way: Any, sent: Any) -> None:
        w, end = st.WAY + way * st.WAY_SIZE, way // PATHS
        confirms = s[w + st.STATUS] == st.UNCONFIRMED
        s[st.ENDPOINT + end * st.ENDPOINT_SIZE + st.ERRORS] = 0
        recover(s, way)
        measure(p, s, way, now - sent)
        s[st.HEARTBEAT_TIMEOUT + way] = st.OFF
        if confirms:
            other = st.WAY + (way ^ 1) * st.WAY_SIZE
            if s[other + st.STATUS] != st.UNCONFIRMED:
                start_heartbeats(p, s, now, end)
                s[st.SEND_NEW] = 1

    return Handshake(dev(begin), dev(t1_due), dev(answered), dev(open_), dev(on_heartbeat_ack))
