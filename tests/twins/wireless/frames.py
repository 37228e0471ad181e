"""Frames in queues and on the air, and their durations."""

from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING, Any, ClassVar

from tests.twins.path.link import Packet
from tests.twins.wireless.routes import Route

if TYPE_CHECKING:
    from tests.twins.wireless.edca.mpdu import Ppdu

ACK_BYTES = CTS_BYTES = 14
RTS_BYTES = 20
NOBODY = -1


class Kind(IntEnum):
    DATA = 0
    RTS = 1
    CTS = 2
    ACK = 3
    SELF = 4  # CTS to self
    BAR = 5  # BlockAckReq
    BLOCK_ACK = 6
    CF_END = 7


@dataclass(eq=False)
class Frame:
    """Packet in the queue of a station."""

    packet: Packet
    route: Route
    hop: int  # index in the route of the link to cross next
    received: bool = False  # by the receiver, whose ACK has not arrived
    parts: ClassVar[int] = 1  # number of parts that noise may destroy separately

    @property
    def link(self) -> int:
        return self.route.links[self.hop]


@dataclass(eq=False)
class Transmission:
    """Frame on the air."""

    kind: Kind
    sender: int
    to: int  # receiver, or NOBODY
    rate: int  # rate of this frame
    data_rate: int  # rate of the data frame of the exchange
    began: int
    end: int
    announced: int  # NAV duration after its end [ns]
    frame: "Frame | Ppdu | None" = None  # data frames only

    @property
    def is_control(self) -> bool:
        return self.kind != Kind.DATA


class AirTimes:
    """Durations of frames [ns]."""

    def __init__(self, radio: Any, rates: list[Any]) -> None:
        self.radio = radio
        self.rates = rates

    def of(self, size: int, rate: int) -> int:
        r = self.rates[rate]
        sixths = 6 * (8 * size + r.EXTRA_BITS)
        symbols = -(-sixths // r.SIXTH_BITS)  # rounded up
        return int(r.PREAMBLE + r.SYMBOL * symbols + r.EXTENSION)

    def size_of_data(self, frame: Frame) -> int:
        return int(frame.packet.size + self.radio.MAC_OVERHEAD)

    def data(self, frame: Frame, rate: int) -> int:
        return self.of(self.size_of_data(frame), rate)

    def answer(self, rate: int) -> int:
        """Return the duration of the ACK or CTS that responds to a data frame of this rate."""
        return self.of(ACK_BYTES, self.rates[rate].ANSWER)

    def cts(self, rate: int) -> int:
        """Return the duration of the CTS that responds to an RTS before data of this rate."""
        return self.answer(rate)
