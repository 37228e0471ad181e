"""Record of the packets that endpoints send and receive.

A kernel is a plain function, and a model compiles each with a *step* (`kernels.base.bind`). `Recorder` is a
step that compiles nothing and puts a hook around the functions by which a sender or receiver sends and
receives. So the headers of a capture are those of the simulated endpoints, in every kind of network, and
nothing is reconstructed.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from netcarlo.kernels.base.parameters import RowP

Block = tuple[int, int]
"""First sequence number (TSN) of a block, and the one after it (SCTP: the last one)."""


class Segment(NamedTuple):
    """TCP segment."""

    sequence: int
    """Sequence number, relative to the initial one."""
    payload: int
    """Payload [byte]."""
    acknowledgement: int
    """Acknowledgement number, relative to the initial one."""
    flags: str
    """Flags as letters: S, A, P, F."""
    window: int
    """Receive window [byte], before scaling."""
    blocks: tuple[Block, ...] = ()
    """SACK blocks, the first of them a DSACK if it is below the acknowledgement number."""
    timestamps: tuple[int, int] | None = None
    """TSval and TSecr, None without the option."""


class Chunk(NamedTuple):
    """SCTP packet with one chunk."""

    kind: int
    """Type of the chunk (`kernels.sctp.state.Kind`)."""
    path: int
    """Number of the path."""
    tsn: int = 0
    """DATA: TSN. SACK: cumulative TSN. HEARTBEAT and its ACK: the heartbeat information [ns]."""
    payload: int = 0
    """DATA: payload [byte]."""
    window: int = 0
    """SACK, INIT: advertised receiver window credit [byte]."""
    blocks: tuple[Block, ...] = ()
    """SACK: gap ack blocks."""
    duplicates: tuple[int, ...] = ()
    """SACK: duplicate TSNs."""


class Datagram(NamedTuple):
    """UDP datagram."""

    payload: int
    """Payload [byte]."""


Content = Segment | Chunk | Datagram


@dataclass(eq=False)
class Connection:
    """A connection, an association or a stream of datagrams."""

    number: int
    """Number among those of the replication."""
    flow: int
    """Number of the flow of the scenario."""
    data: int
    """Payload of a data packet [byte]."""
    last: int
    """Payload of the last data packet [byte]."""
    limit: int
    """Data packets to send."""
    first: int = 0
    """Number of the first data packet."""
    window: int = 0
    """Maximum receive window [byte]."""
    paths: int = 1
    """Paths of an SCTP association."""
    handshake: bool = False
    """True if a SYN or INIT was sent."""
    sack: bool = False
    """True if ACKs may carry SACK blocks."""
    timestamps: bool = False
    """True if segments carry timestamps."""
    now: int = 0
    """Time of the event at the receiver [ns]."""
    syn: bool = False
    """True while the receiver processes a SYN."""
    recent: int = 0
    """TSval of the newest ACK at the sender (TS.Recent)."""
    contents: dict[Any, Content] = field(default_factory=dict)
    """Contents of packets by direction and number."""

    def sequence(self, packet: int) -> int:
        """Return the relative sequence number of a TCP packet; after the last one, that after the FIN."""
        index = packet - self.first
        if index < 0:
            return 0
        if index < self.limit:
            return 1 + index * self.data
        return 1 + (self.limit - 1) * self.data + self.last + 1

    def blocks(self, ends: Any, count: Any) -> tuple[Block, ...]:
        """Return SACK blocks in bytes; `ends` has the first packet of each and the one after its last."""
        return tuple(
            (self.sequence(int(ends[2 * k])), self.sequence(int(ends[2 * k + 1]))) for k in range(int(count))
        )

    def payload(self, packet: int) -> int:
        """Return the payload of a data packet [byte]."""
        return self.last if packet - self.first == self.limit - 1 else self.data


class Packet(NamedTuple):
    """Packet at the place of the capture."""

    time: int
    """Time [ns]."""
    connection: Connection
    forward: bool
    """True from the sender of the data to the receiver."""
    content: Content


Hook = Callable[["Recorder", Any], Any]
"""Returns the function that is called instead of one of a kernel."""


class Recorder:
    """Step that leaves functions uncompiled and records packets, at the senders or at the receivers."""

    def __init__(self, hooks: Mapping[tuple[str, str], Hook], parameters: Any, *, at_sender: bool) -> None:
        self.parameters = parameters
        """Parameters of the row."""
        self.end = int(parameters[RowP.END])
        """End of the run [ns]."""
        self.packets: list[Packet] = []
        self._hooks, self._at_sender = hooks, at_sender
        self._connections: dict[Any, Connection] = {}
        self._count = 0

    def __call__(self, function: Any) -> Any:
        """Return the function, with its hook if it has one."""
        module = function.__module__.removeprefix("netcarlo.kernels.")
        hook = self._hooks.get((module, function.__name__))
        return hook(self, function) if hook else function

    def open(self, key: Any, p: Any, *, flow: Any, limit: Any, **others: Any) -> Connection:
        """Return a new connection of the endpoints with this key (`key`, or any other)."""
        data = int(p[RowP.DATA])
        found = Connection(self._count, int(flow), data, data - int(p[RowP.SHORT]), int(limit), **others)
        self._count += 1
        self._connections[key] = found
        return found

    def known(self, key: Any) -> Connection | None:
        """Return the connection of the endpoints with this key, None before it is open."""
        return self._connections.get(key)

    def of(self, s: Any) -> Connection:
        """Return the connection whose words of scratch are `s`."""
        return self._connections[key(s)]

    def sent(
        self, connection: Connection, time: Any, content: Content, *, forward: bool, number: Any
    ) -> None:
        """Record that an endpoint sends packet `number` at `time` [ns]."""
        connection.contents[forward, int(number)] = content
        if forward == self._at_sender:
            self._note(connection, time, content, forward)

    def arrived(self, connection: Connection, time: Any, *, forward: bool, number: Any) -> Content:
        """Record that packet `number` arrives at an endpoint at `time` [ns], and return it."""
        content = connection.contents[forward, int(number)]
        if forward != self._at_sender:
            self._note(connection, time, content, forward)
        return content

    def arrived_as(self, connection: Connection, time: Any, content: Content, *, forward: bool) -> None:
        """Record that a packet with this content arrives at an endpoint at `time` [ns]."""
        if forward != self._at_sender:
            self._note(connection, time, content, forward)

    def _note(self, connection: Connection, time: Any, content: Content, forward: bool) -> None:
        if time <= self.end:
            self.packets.append(Packet(int(time), connection, forward, content))


def key(s: Any) -> int:
    """Return the address of the first word of an array, which identifies an endpoint's view of scratch."""
    return int(s.__array_interface__["data"][0])
