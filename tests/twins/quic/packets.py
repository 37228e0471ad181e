"""Contents of packets."""

from dataclasses import dataclass


class StreamData(int):
    """Part of the stream, by its index, in packet `number`."""

    number: int

    @classmethod
    def of(cls, part: int, number: int) -> "StreamData":
        data = cls(part)
        data.number = number
        return data


@dataclass(frozen=True)
class Hello:
    """Handshake packet of the client; `stage` 2 requests what the anti-amplification limit held back."""

    number: int
    stage: int


@dataclass(frozen=True)
class Challenge:
    """PATH_CHALLENGE in packet `number`, and PATH_RESPONSE to it."""

    number: int


@dataclass(frozen=True)
class AckFrame:
    """ACK frame (RFC 9000, 19.3); ranges are (first, last), ascending."""

    order: int
    ranges: list[tuple[int, int]]
    delay: int
    """ACK Delay as decoded [ns]."""

    @property
    def largest(self) -> int:
        return self.ranges[-1][1]

    def holds(self, number: int) -> bool:
        return any(first <= number <= last for first, last in self.ranges)
