"""The receiver of an SCTP association: gap accounting and (delayed) acknowledgements.

Source: RFC 2960 sections 6.2 and 6.7, as ns-2 carries them out.  A SACK does not carry its gap
blocks: it carries how many chunks the receiver had accepted, and each chunk knows its own number
in that order, which says the same in one word.
"""

from collections.abc import Callable
from typing import Any

from netcarlo.kernels.base.inline import cold
from netcarlo.kernels.base.layout import NEVER, Out, P
from netcarlo.kernels.sctp import state as st


def make_receiver(dev: Callable[[Any], Any], put: Any) -> tuple[Any, Any, Any]:
    """Compile `(record, on_data, sack)` for a target.

    `record(s, now, sent)` counts an arrival of DATA put out at `sent`; `on_data(p, s, now, tsn)` takes
    it in.
    `sack(p, s, now, duplicates)` acknowledges what has arrived, on the path of the last packet.
    """
    chunk = dev(st.chunk)

    @cold
    def sack(p: Any, s: Any, now: Any, duplicates: Any) -> None:
        size = p[P.ACK] + (s[st.BLOCKS] + duplicates) * p[P.SACK_BLOCK]
        seen = s[st.ACCEPTED] if s[st.BLOCKS] > 0 else 0
        room = p[P.RWND] - s[st.BUFFERED] * s[st.CHUNK]
        put(p, s, now, s[st.REPLY_WAY], st.SACK, size, s[st.RCV_CUM], room, seen)

    sack = dev(sack)

    def has(p: Any, s: Any, tsn: Any) -> Any:
        # Whether a chunk beyond RCV_CUM has arrived.
        return tsn <= s[st.LAST_TSN] and s[chunk(p, s, tsn) + st.ACCEPT_NUMBER] > 0

    has = dev(has)

    def accept(p: Any, s: Any, now: Any, tsn: Any) -> None:
        s[st.ACCEPTED] += 1
        s[chunk(p, s, tsn) + st.ACCEPT_NUMBER] = s[st.ACCEPTED]
        if s[st.ACCEPTED] == p[P.LIMIT]:
            s[st.COUNT + Out.COMPLETED] = now
        beyond = has(p, s, tsn + 1)
        if tsn > s[st.RCV_CUM] + 1:
            before = tsn > s[st.RCV_CUM] + 2 and has(p, s, tsn - 1)
            s[st.BUFFERED] += 1
            s[st.BLOCKS] += 1 - int(before) - int(beyond)
            return
        s[st.RCV_CUM] = tsn
        if beyond:  # this closes the first gap
            s[st.BLOCKS] -= 1
            while has(p, s, s[st.RCV_CUM] + 1):
                s[st.RCV_CUM] += 1
                s[st.BUFFERED] -= 1

    accept = dev(accept)

    def record(s: Any, now: Any, sent: Any) -> None:
        s[st.COUNT + Out.RECEIVED] += 1
        s[st.COUNT + Out.LAST_RX] = now
        if s[st.COUNT + Out.FIRST_RX] == NEVER:
            s[st.COUNT + Out.FIRST_RX] = now
        if s[st.COUNT + Out.RESUME_RX] == NEVER and now > s[st.FIRST_OUTAGE]:
            s[st.COUNT + Out.RESUME_RX] = now
            s[st.COUNT + Out.RESUME_TX] = sent

    record = dev(record)

    @cold
    def on_data(p: Any, s: Any, now: Any, tsn: Any) -> None:
        duplicates = 0
        needed = tsn == 1 and p[P.SACK_FIRST] == 1
        if not needed:
            s[st.UNACKED] += 1
            if s[st.UNACKED] == 1:
                s[st.SACK_TIMER] = now + p[P.ACK_DELAY]
            if s[st.UNACKED] == p[P.ACK_EVERY]:
                s[st.UNACKED] = 0
                s[st.SACK_TIMER] = st.OFF
                needed = True
        if s[st.CHUNK] > p[P.RWND] - s[st.BUFFERED] * s[st.CHUNK]:
            needed = False  # no room: the chunk is thrown away
        elif tsn <= s[st.RCV_CUM] or has(p, s, tsn):
            duplicates = 1
            needed = True
        else:
            accept(p, s, now, tsn)
        if s[st.BLOCKS] > 0:
            s[st.UNACKED] = 0
            s[st.SACK_TIMER] = st.OFF
            needed = True
        if needed:
            sack(p, s, now, duplicates)

    return record, dev(on_data), sack
