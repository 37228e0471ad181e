"""Transmission opportunities of saturated stations: sizes and durations of A-MPDUs and of their exchanges.

Sources: IEEE 802.11-2020, 9.3.2.2 (A-MSDU), 9.7 (A-MPDU), 10.12 (limits), 10.23.2 (EDCA, TXOP). The backlog
of a sender is endless, its packets have one size, and nothing is lost. Times in ns; arrays broadcast.
"""

from typing import Any, NamedTuple

import numpy as np

from netcarlo.kernels.base.layout import NS
from netcarlo.kernels.wireless.layout import Rate
from netcarlo.networks.wireless import dot11
from netcarlo.numerics.arrays import Floats, Ints

ACK_BYTES = dot11.ACK_BYTES
RTS_BYTES = 20
CF_END_BYTES = 20
MAC_OVERHEAD = 38
"""LLC/SNAP, MAC header with QoS control, and FCS [byte]."""
LLC_BYTES = 8
DELIMITER_BYTES = 4
SUBFRAME_BYTES = 14
"""Header of a subframe of an A-MSDU [byte]."""


class Sender(NamedTuple):
    """A saturated EDCA function, or many (arrays [n])."""

    data: Ints
    """Columns of `Rate` of data PPDUs, [n, len(Rate)]."""
    answer: Ints
    """Columns of `Rate` of Ack and BlockAck, [n, len(Rate)]."""
    rts: Ints
    """Columns of `Rate` of RTS and CTS, [n, len(Rate)]."""
    cf_end: Ints
    """Columns of `Rate` of CF-End, [n, len(Rate)]."""
    packet: Any
    """Size of an IP packet [byte]."""
    sifs: Any
    ampdu: Any
    """Maximum size of an A-MPDU [byte]; 0: one MPDU per PPDU."""
    amsdu: Any
    """Maximum size of an A-MSDU [byte]; 0: one MSDU per MPDU."""
    window: Any
    """Block Ack window [MPDUs]."""
    block_ack: Any
    """Size of a BlockAck [byte]."""
    txop: Any
    """TXOP limit; 0: one PPDU."""
    most_time: Any
    """Maximum duration of a PPDU."""
    rts_threshold: Any
    """Size above which an RTS precedes a PPDU [byte]."""
    mac_overhead: Any = MAC_OVERHEAD


class Opportunity(NamedTuple):
    """Content and duration of a transmission opportunity, or of many (arrays [n])."""

    ppdus: Ints
    mpdus: Ints
    msdus: Ints
    success: Ints
    """From the start of the first frame to the end of the last one."""
    collision: Ints
    """Duration of the first frame: an RTS or a PPDU."""
    rest: Ints
    """Rest of the TXOP, which is too short for a CF-End; the NAV of other stations lasts as long."""


class _Psdu(NamedTuple):
    mpdus: Ints
    msdus: Ints
    size: Ints


def opportunity(sender: Sender, *, used: Any = 0) -> Opportunity:
    """Return what a sender transmits per channel access, or after a time `used` in TXOPs with a limit."""
    shapes = [np.shape(part)[: -1 if k < 4 else None] for k, part in enumerate(sender)]
    n = np.broadcast_shapes((1,), np.shape(used), *shapes)
    rates = (np.broadcast_to(part, (*n, len(Rate))) for part in sender[:4])
    numbers = (np.broadcast_to(np.asarray(part, np.int64), n) for part in sender[4:])
    sender = Sender(*rates, *numbers)
    limited = sender.txop > 0
    begins = np.asarray(used) == 0
    rest: Ints = np.where(limited, sender.txop - used, np.iinfo(np.int64).max)
    ppdus: Ints = np.zeros(n, np.int64)
    mpdus, msdus, success, collision = (ppdus.copy() for _ in range(4))
    gap = np.where(begins, 0, sender.sifs)
    going = begins | limited
    while going.any():
        psdu, first, time = _exchange(sender, rest - gap)
        going &= (begins & (ppdus == 0)) | (limited & (gap + time <= rest))
        collision = np.where(ppdus == 0, first, collision)
        for total, part in ((ppdus, 1), (mpdus, psdu.mpdus), (msdus, psdu.msdus), (success, gap + time)):
            total += going * part
        rest = rest - going * (gap + time)
        going &= limited
        gap = sender.sifs
    cf_end = sender.sifs + dot11.time_on_air(sender.cf_end, CF_END_BYTES)
    success = success + np.where(limited & (rest >= cf_end), cf_end, 0)
    rest = np.where(limited & (rest < cf_end), np.maximum(rest, 0), 0)
    return Opportunity(ppdus, mpdus, msdus, success, collision, rest)


def goodput_bps(sender: Sender, *, payload: Any, aifs: Any, slot: Any, cw_min: Any) -> Floats:
    """Return the goodput [bit/s] of a saturated sender that is alone in its cell.

    An access takes AIFS, `cw_min / 2` slots on average, and the transmission opportunity.
    """
    found = opportunity(sender)
    return np.asarray(NS * 8 * payload * found.msdus / (aifs + slot * cw_min / 2 + found.success))


def _exchange(sender: Sender, rest: Ints) -> tuple[_Psdu, Ints, Ints]:
    """Return the next PSDU, the duration of its first frame, and that of its exchange, which should fit into
    `rest` unless one MSDU does not."""
    rts = dot11.time_on_air(sender.rts, RTS_BYTES)
    announcement = rts + dot11.time_on_air(sender.rts, ACK_BYTES) + 2 * sender.sifs
    after = sender.sifs + dot11.time_on_air(sender.answer, sender.block_ack)
    psdu = _psdu(sender, np.minimum(sender.most_time, rest - after))
    announced = psdu.size > sender.rts_threshold
    shorter = _psdu(sender, np.minimum(sender.most_time, rest - after - announcement))
    psdu = _Psdu(*(np.where(announced, *parts) for parts in zip(shorter, psdu, strict=True)))
    data = dot11.time_on_air(sender.data, psdu.size)
    answer = dot11.time_on_air(sender.answer, np.where(psdu.mpdus == 1, ACK_BYTES, sender.block_ack))
    time = np.where(announced, announcement, 0) + data + sender.sifs + answer
    return psdu, np.where(announced, rts, data), time


def _psdu(sender: Sender, time: Ints) -> _Psdu:
    """Return the largest PSDU whose PPDU takes at most `time`; it has at least one MSDU.

    All MPDUs are full A-MSDUs, except for the last one.
    """
    size = _largest(sender.data, time)
    size = np.where(sender.ampdu > 0, np.minimum(sender.ampdu, size), size)
    most = np.where(sender.ampdu > 0, sender.window, 1)
    full = np.maximum(_fitting(sender, sender.amsdu + sender.mac_overhead - LLC_BYTES), 1)
    mpdu = _mpdu(sender, full)
    padded = _padded(DELIMITER_BYTES + mpdu)
    count = np.clip(1 + (size - DELIMITER_BYTES - mpdu) // padded, 0, most)
    last = np.minimum(_fitting(sender, size - count * padded - DELIMITER_BYTES), full)
    last = np.where(count < most, np.maximum(last, count == 0), 0)
    mpdus = count + (last > 0)
    final = _mpdu(sender, np.where(last > 0, last, full))
    delimited = np.where(sender.data[..., Rate.DELIMITED] > 0, DELIMITER_BYTES, 0)
    before = np.where(mpdus > 1, (mpdus - 1) * padded + DELIMITER_BYTES, delimited)
    return _Psdu(mpdus, count * full + last, before + final)


def _largest(rate: Ints, time: Ints) -> Ints:
    """Return the size [byte] of the largest PSDU whose PPDU takes at most `time`, negative for none."""
    symbols = (time - rate[..., Rate.PREAMBLE] - rate[..., Rate.EXTENSION]) // rate[..., Rate.SYMBOL]
    return np.asarray((symbols * rate[..., Rate.SIXTH_BITS] // 6 - rate[..., Rate.EXTRA_BITS]) // 8)


def _mpdu(sender: Sender, msdus: Ints) -> Ints:
    """Return the size [byte] of an MPDU: a single MSDU, or an A-MSDU."""
    subframe = SUBFRAME_BYTES + LLC_BYTES + sender.packet
    several = sender.mac_overhead - LLC_BYTES + (msdus - 1) * _padded(subframe) + subframe
    return np.asarray(np.where(msdus > 1, several, sender.mac_overhead + sender.packet))


def _fitting(sender: Sender, size: Ints) -> Ints:
    """Return the number of MSDUs in the largest MPDU of at most `size` bytes, which may be 0."""
    subframe = SUBFRAME_BYTES + LLC_BYTES + sender.packet
    several = 1 + (size - (sender.mac_overhead - LLC_BYTES) - subframe) // _padded(subframe)
    several = np.where(sender.amsdu > 0, several, 0)
    return np.asarray(np.where(several > 1, several, sender.mac_overhead + sender.packet <= size))


def _padded(size: Ints) -> Ints:
    return np.asarray(-(-size // 4) * 4)
