"""MSDUs, MPDUs, and the sizes of A-MSDUs and A-MPDUs (IEEE 802.11-2016, 9.3.2.2 and 9.7)."""

from dataclasses import dataclass, field

from tests.twins.path.link import Packet
from tests.twins.wireless.frames import Frame

LLC = 8  # LLC and SNAP header of an MSDU [byte]
SUBFRAME = 14  # header of an A-MSDU subframe [byte]
DELIMITER = 4  # of an A-MPDU subframe [byte]


@dataclass(eq=False)
class Msdu(Frame):
    """Packet in the queue of an EDCA function."""

    arrival: int = 0  # [ns]
    airtime: int = 0  # estimate of FQ-CoDel when it releases the packet [ns]


@dataclass(eq=False)
class Mpdu:
    """One or more MSDUs with a sequence number."""

    number: int
    msdus: list[Msdu]
    size: int  # [byte]
    sent: bool = False  # was transmitted
    received: bool = False  # by the receiver
    retries: int = 0  # failed attempts (behaviour of the standard)

    @property
    def packets(self) -> list[Packet]:
        return [msdu.packet for msdu in self.msdus]


def padded(size: int) -> int:
    """Return the next multiple of 4."""
    return -(-size // 4) * 4


def all_but_last_padded(sizes: list[int]) -> int:
    return sum(padded(size) for size in sizes[:-1]) + sizes[-1]


def amsdu_size(packets: list[int]) -> int:
    """Return the size of the A-MSDU of packets of these sizes."""
    return all_but_last_padded([SUBFRAME + LLC + packet for packet in packets])


def mpdu_size(packets: list[int], overhead: int) -> int:
    """Return the size of an MPDU; `overhead` is that of a plain MSDU: LLC, MAC header, FCS."""
    return packets[0] + overhead if len(packets) == 1 else overhead - LLC + amsdu_size(packets)


def psdu_size(mpdus: list[int], *, delimited: bool) -> int:
    """Return the size of an A-MPDU; an MPDU alone is `delimited` or plain."""
    if len(mpdus) == 1:
        return mpdus[0] + (DELIMITER if delimited else 0)
    return all_but_last_padded([DELIMITER + mpdu for mpdu in mpdus])


@dataclass(eq=False)
class Ppdu:
    """MPDUs in one transmission to one receiver, or a BlockAckReq."""

    agreement: int
    link: int
    to: int
    rate: int
    time: int  # transmission time [ns]
    answer_time: int  # [ns]
    mpdus: list[Mpdu] = field(default_factory=list)  # empty for a BlockAckReq
    announced_by_rts: bool = False
    start: int = 0  # starting sequence number of a BlockAckReq

    def early(self, mpdu: Mpdu, preamble: int) -> int:
        """Return the time from the end of an MPDU to the end of the PPDU [ns]."""
        if len(self.mpdus) == 1:
            return 0
        sizes = [DELIMITER + other.size for other in self.mpdus]
        size = all_but_last_padded(sizes)
        end = all_but_last_padded(sizes[: self.mpdus.index(mpdu) + 1])
        return (self.time - preamble) * (size - end) // size

    @property
    def is_request(self) -> bool:
        return not self.mpdus

    @property
    def parts(self) -> int:
        return len(self.mpdus)
