"""Start of an SCTP association: four-way handshake and first probe of the paths.

Source: RFC 2960, section 5, and RFC 4460, section 5.4 (path verification), as implemented by ns-2; RFC 9260,
section 5, with its rules.
"""

from typing import Any

from netcarlo.kernels.base.inline import noinline
from netcarlo.kernels.base.layout import NEVER, PATHS, Out
from netcarlo.kernels.base.parameters import ReliableP, Rfc9260P, RowP, SctpP
from netcarlo.kernels.sctp import paths
from netcarlo.kernels.sctp.state import (
    COOKIE_BYTES,
    EVENTS,
    INIT_BYTES,
    OFF,
    OUTCOMES,
    RECEIVER,
    SENDER,
    STATE_SIZE,
    WAYS,
    End,
    Event,
    Kind,
    State,
    Status,
    Way,
    Word,
    end_at,
    way_at,
)

MAX_INIT_RETRANS = 8
"""Maximum number of retransmissions of INIT and COOKIE-ECHO together before the sender gives up."""


@noinline
def prepare(p: Any, s: Any, paths_in_use: Any, limit: Any, flow: Any) -> None:
    """Set the state before the start: `limit` chunks are to be sent; `flow` is the association's number."""
    for word in range(STATE_SIZE):
        s[word] = OFF if word < EVENTS else 0
    for way in range(WAYS):
        w = way_at(way)
        s[w + Way.STATUS] = Status.ACTIVE
        s[w + Way.RTO] = p[ReliableP.INITIAL_RTO]
        s[w + Way.CWND] = p[SctpP.INITIAL_CWND]
        s[w + Way.SSTHRESH] = p[ReliableP.INITIAL_SSTHRESH]
    for end in range(2):
        e = end_at(end)
        s[e + End.PRIMARY] = end * PATHS
        s[e + End.CURRENT] = end * PATHS
    s[Word.CHUNK] = p[RowP.DATA] + p[RowP.CHUNK_HEADER]
    s[Word.PATHS] = paths_in_use
    s[Word.LIMIT] = limit
    s[Word.FLOW] = flow
    s[Word.FAILOVER] = NEVER
    s[OUTCOMES + Out.COMPLETED] = NEVER


@noinline
def request(p: Any, s: Any, now: Any) -> None:
    """Send INIT or COOKIE-ECHO, and wait for the answer."""
    way = s[end_at(SENDER) + End.PRIMARY]
    if s[end_at(SENDER) + End.STATE] == State.COOKIE_WAIT:
        paths.put(p, s, now, way, Kind.INIT, INIT_BYTES, now)
    else:
        paths.put(p, s, now, way, Kind.COOKIE_ECHO, COOKIE_BYTES, now)
    s[OUTCOMES + Out.HANDSHAKES] += 1
    s[Event.T1] = now + s[way_at(way) + Way.RTO]


@noinline
def t1_due(p: Any, s: Any, now: Any) -> None:
    """Start the association, or retransmit INIT or COOKIE-ECHO, which was not answered."""
    if s[end_at(SENDER) + End.STATE] == State.CLOSED:
        s[end_at(SENDER) + End.STATE] = State.COOKIE_WAIT
        request(p, s, now)
    elif s[Word.TRIES] == MAX_INIT_RETRANS:
        s[end_at(SENDER) + End.STATE] = State.CLOSED
        s[Event.T1] = OFF
    else:
        s[Word.TRIES] += 1
        w = way_at(s[end_at(SENDER) + End.PRIMARY])
        s[w + Way.RTO] = min(2 * s[w + Way.RTO], p[ReliableP.MAX_RTO])
        request(p, s, now)


@noinline
def answered(p: Any, s: Any, now: Any, kind: Any) -> None:
    """Process a packet during the handshake at the sender; ns-2 accepts any packet as the answer."""
    expected = Kind.INIT_ACK if s[end_at(SENDER) + End.STATE] == State.COOKIE_WAIT else Kind.COOKIE_ACK
    if p[Rfc9260P.RFC9260] == 1 and kind != expected:
        return
    if s[end_at(SENDER) + End.STATE] == State.COOKIE_WAIT:
        s[end_at(SENDER) + End.STATE] = State.COOKIE_ECHOED
        request(p, s, now)
        return
    s[end_at(SENDER) + End.STATE] = State.ESTABLISHED
    s[Event.T1] = OFF
    s[Word.PEER_RWND] = p[SctpP.RWND]
    if p[SctpP.PROBE_FIRST] == 0 or p[Rfc9260P.RFC9260] == 1:
        paths.start_heartbeats(p, s, now, SENDER)
        s[Word.SEND_NEW] = 1
        return
    for way in range(s[Word.PATHS]):
        s[way_at(way) + Way.STATUS] = Status.UNCONFIRMED
        paths.heartbeat(p, s, now, way)


@noinline
def establish(p: Any, s: Any, now: Any) -> None:
    """Establish the association at the receiver: its first COOKIE-ECHO has arrived."""
    s[end_at(RECEIVER) + End.STATE] = State.ESTABLISHED
    paths.start_heartbeats(p, s, now, RECEIVER)


@noinline
def on_heartbeat_ack(p: Any, s: Any, now: Any, way: Any, sent: Any) -> None:
    """Process the answer to a heartbeat that was sent on a way at `sent` [ns]."""
    w, end = way_at(way), way // PATHS
    confirms = s[w + Way.STATUS] == Status.UNCONFIRMED
    s[end_at(end) + End.ERRORS] = 0
    paths.recover(p, s, way)
    paths.measure(p, s, way, now - sent)
    paths.answered(p, s, now, way)
    if confirms and p[Rfc9260P.RFC9260] == 0:
        other = way_at(way ^ 1)
        if s[other + Way.STATUS] != Status.UNCONFIRMED:
            paths.start_heartbeats(p, s, now, end)
            s[Word.SEND_NEW] = 1
