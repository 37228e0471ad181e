"""Receiver of an SCTP association: gap accounting and (delayed) acknowledgements.

Source: RFC 2960, sections 6.2 and 6.7, as implemented by ns-2. In the model a SACK does not carry its gap
blocks but the number of chunks that the receiver had accepted. Each chunk stores its own number in that
order, so one word has the same information.
"""

from typing import Any

from netcarlo.kernels.base.inline import noinline
from netcarlo.kernels.base.layout import Out
from netcarlo.kernels.base.parameters import ReliableP, Rfc9260P, SctpP
from netcarlo.kernels.sctp import paths
from netcarlo.kernels.sctp.state import OFF, OUTCOMES, Chunk, Event, Kind, Packet, Word, chunk_at


@noinline
def sack(p: Any, s: Any, now: Any, tsn: Any, duplicates: Any) -> None:
    """Acknowledge the chunks that have arrived, chunk `tsn` last, on the path of the last packet."""
    size = p[ReliableP.ACK] + (s[Word.BLOCKS] + duplicates) * p[ReliableP.SACK_BLOCK]
    at = paths.put(p, s, now, s[Word.REPLY_WAY], Kind.SACK, size, s[Word.RCV_CUM])
    s[at + Packet.ROOM] = p[SctpP.RWND] - s[Word.BUFFERED] * s[Word.CHUNK]
    s[at + Packet.LATEST] = tsn
    s[at + Packet.SEEN] = s[Word.ACCEPTED] if s[Word.BLOCKS] > 0 else 0


def has(p: Any, s: Any, tsn: Any) -> Any:
    """Return whether a chunk beyond RCV_CUM has arrived."""
    return tsn <= s[Word.LAST_TSN] and s[chunk_at(p, s, tsn) + Chunk.ACCEPT_NUMBER] > 0


def accept(p: Any, s: Any, now: Any, tsn: Any) -> None:
    """Accept a chunk that has not arrived before, and update the gap ack blocks."""
    s[Word.ACCEPTED] += 1
    s[chunk_at(p, s, tsn) + Chunk.ACCEPT_NUMBER] = s[Word.ACCEPTED]
    if s[Word.ACCEPTED] == s[Word.LIMIT]:
        s[OUTCOMES + Out.COMPLETED] = now
    beyond = has(p, s, tsn + 1)
    if tsn > s[Word.RCV_CUM] + 1:
        before = tsn > s[Word.RCV_CUM] + 2 and has(p, s, tsn - 1)
        s[Word.BUFFERED] += 1
        s[Word.BLOCKS] += 1 - int(before) - int(beyond)
        return
    s[Word.RCV_CUM] = tsn
    if beyond:  # this closes the first gap
        s[Word.BLOCKS] -= 1
        while has(p, s, s[Word.RCV_CUM] + 1):
            s[Word.RCV_CUM] += 1
            s[Word.BUFFERED] -= 1


@noinline
def on_data(p: Any, s: Any, now: Any, tsn: Any) -> None:
    """Process a chunk, and acknowledge it now or later."""
    duplicates = 0
    needed = tsn == 1 and p[SctpP.SACK_FIRST] == 1
    if not needed:
        s[Word.UNACKED] += 1
        if s[Word.UNACKED] == 1:
            s[Event.SACK_TIMER] = now + p[ReliableP.ACK_DELAY]
        if s[Word.UNACKED] == p[ReliableP.ACK_EVERY]:
            s[Word.UNACKED] = 0
            s[Event.SACK_TIMER] = OFF
            needed = True
    full = s[Word.CHUNK] > p[SctpP.RWND] - s[Word.BUFFERED] * s[Word.CHUNK]
    if full and not (p[Rfc9260P.RFC9260] == 1 and tsn == s[Word.RCV_CUM] + 1):  # that chunk makes room
        needed = p[Rfc9260P.RFC9260] == 1  # no room: the chunk is discarded (RFC 9260, section 6.2)
    elif tsn <= s[Word.RCV_CUM] or has(p, s, tsn):
        duplicates = 1
        needed = True
    else:
        accept(p, s, now, tsn)
    if s[Word.BLOCKS] > 0:
        s[Word.UNACKED] = 0
        s[Event.SACK_TIMER] = OFF
        needed = True
    if needed:
        sack(p, s, now, tsn, duplicates)
