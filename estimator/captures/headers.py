"""Headers of captured packets: IPv4 (RFC 791) with TCP (RFC 9293), SCTP (RFC 9260) or UDP (RFC 768).

Payload is zeros. The file contains it for SCTP only, because Wireshark does not dissect incomplete chunks.
"""

import struct
from collections.abc import Iterable
from functools import singledispatch
from ipaddress import IPv4Address
from typing import Any, NamedTuple

from netcarlo.captures.checksums import crc32c, internet
from netcarlo.captures.record import Chunk, Connection, Datagram, Packet, Segment
from netcarlo.kernels.sctp.state import Kind

SERVER_PORT = 5001
"""Port of every receiver."""
FIRST_PORT, PORTS = 10000, 50000
"""Port of the sender of the first connection, and the number of ports before they repeat."""
LARGEST_SCALE = 14
"""Largest window scale (RFC 7323, section 2.3)."""
TCP, UDP, SCTP = 6, 17, 132
"""Protocol numbers of IP."""
TCP_FLAGS = {"F": 1, "S": 2, "P": 8, "A": 16}
"""Bits of the TCP flags."""
NOP = b"\x01"
"""TCP option without meaning, which aligns the others."""
CHUNKS = {
    Kind.DATA: 0, Kind.INIT: 1, Kind.INIT_ACK: 2, Kind.SACK: 3, Kind.HEARTBEAT: 4, Kind.HEARTBEAT_ACK: 5,
    Kind.COOKIE_ECHO: 10, Kind.COOKIE_ACK: 11,
}  # fmt: skip
"""Types of SCTP chunks (RFC 9260, section 3.2)."""
WHOLE_MESSAGE = 3
"""Flags B and E of a DATA chunk that carries a whole message."""
COOKIE = bytes(8)
"""State cookie; the model does not have its content."""


class Bytes(NamedTuple):
    """Packet in a capture file."""

    captured: bytes
    """Headers of the packet; with SCTP also its payload."""
    length: int
    """Length of the packet with its payload [byte]."""


class Body(NamedTuple):
    """Content of an IP packet."""

    protocol: int
    """Protocol number."""
    header: bytes
    """Header of the transport."""
    payload: int
    """Bytes of payload behind the header, all zero, with padding."""


def of_packet(packet: Packet, number: int) -> Bytes:
    """Return the bytes of a packet, the `number`-th that its endpoint sends."""
    path = packet.content.path if isinstance(packet.content, Chunk) else 0
    ends = [address(packet.connection, path, of_sender=is_sender) for is_sender in (True, False)]
    source, target = (end.packed for end in (ends if packet.forward else ends[::-1]))
    protocol, header, payload = body(packet.content, packet.connection, packet.forward)
    if protocol != SCTP:
        at = {TCP: 16, UDP: 6}[protocol]
        pseudo = source + target + struct.pack(">HH", protocol, len(header) + payload)
        found = internet(pseudo + header)
        if protocol == UDP:
            found = found or 0xFFFF  # zero would mean that there is no checksum
        header = _put(header, at, struct.pack(">H", found))
    length = 20 + len(header) + payload
    fields = 0x4500, length, number & 0xFFFF, 0x4000, 64 << 8 | protocol, 0  # don't fragment, TTL 64
    ip = struct.pack(">6H", *fields) + source + target
    ip = _put(ip, 10, struct.pack(">H", internet(ip)))
    return Bytes(ip + header + bytes(payload if protocol == SCTP else 0), length)


def address(connection: Connection, path: int, *, of_sender: bool) -> IPv4Address:
    """Return the address of an endpoint on a path: 10.0.0.1 for flow 0, 10.1.0.1 for its receiver."""
    return IPv4Address("10.0.0.1") + ((2 * path + (not of_sender)) << 16) + connection.flow


def scale_of(connection: Connection) -> int:
    """Return the window scale that the largest window needs; 0 without a SYN, which carries it."""
    needed = min((connection.window >> 16).bit_length(), LARGEST_SCALE)
    return needed if connection.handshake else 0


@singledispatch
def body(content: Any, connection: Connection, forward: bool) -> Body:
    """Return the content of an IP packet, the checksum of TCP and UDP still zero."""
    raise TypeError(type(content))


@body.register
def _(content: Segment, connection: Connection, forward: bool) -> Body:
    options, scale = tcp_options(content, connection), scale_of(connection)
    window = min(content.window if "S" in content.flags else content.window >> scale, 0xFFFF)
    fixed = struct.pack(
        ">HHIIHHHH", *_ports(connection, forward), content.sequence & 0xFFFFFFFF,
        content.acknowledgement & 0xFFFFFFFF,
        (20 + len(options)) // 4 << 12 | sum(TCP_FLAGS[flag] for flag in content.flags), window, 0, 0,
    )  # fmt: skip
    return Body(TCP, fixed + options, content.payload)


def tcp_options(content: Segment, connection: Connection) -> bytes:
    """Return the options of a segment: MSS, SACK permitted, timestamps, window scale, SACK blocks.

    Sources: RFC 9293, section 3.7.1; RFC 2018; RFC 7323.
    """
    found = b""
    syn = "S" in content.flags
    if syn:
        found += struct.pack(">BBH", 2, 4, min(connection.data, 0xFFFF))
        found += b"\x04\x02" if connection.sack else b""
    if content.timestamps:
        found += b"" if syn and connection.sack else NOP + NOP
        found += struct.pack(">BBII", 8, 10, *(stamp & 0xFFFFFFFF for stamp in content.timestamps))
    if syn:
        found += NOP + struct.pack(">BBB", 3, 3, scale_of(connection))
    if content.blocks:
        edges = [edge & 0xFFFFFFFF for block in content.blocks for edge in block]
        found += NOP + NOP + struct.pack(f">BB{len(edges)}I", 5, 2 + 4 * len(edges), *edges)
    return found + NOP * (-len(found) % 4)


@body.register
def _(content: Datagram, connection: Connection, forward: bool) -> Body:
    header = struct.pack(">HHHH", *_ports(connection, forward), 8 + content.payload, 0)
    return Body(UDP, header, content.payload)


@body.register
def _(content: Chunk, connection: Connection, forward: bool) -> Body:
    tags = 2 * connection.number + 1, 2 * connection.number + 2  # verification tags of sender and receiver
    mine, peer = tags if forward else tags[::-1]
    value = _value(content, connection, mine, forward)
    flags = WHOLE_MESSAGE if content.kind == Kind.DATA else 0
    payload = content.payload + -content.payload % 4
    chunk = struct.pack(">BBH", CHUNKS[Kind(content.kind)], flags, 4 + len(value) + content.payload) + value
    common = struct.pack(">HHII", *_ports(connection, forward), 0 if content.kind == Kind.INIT else peer, 0)
    header = common + chunk
    return Body(SCTP, _put(header, 8, struct.pack("<I", crc32c(header, payload))), payload)


def _value(content: Chunk, connection: Connection, tag: int, forward: bool) -> bytes:
    """Return the value of a chunk without user data; `tag` is the sender's own verification tag."""
    number = content.tsn & 0xFFFFFFFF
    if content.kind == Kind.DATA:
        return struct.pack(">IHHI", number, 0, (number - 1) & 0xFFFF, 0)
    if content.kind == Kind.SACK:
        offsets = [edge - content.tsn for block in content.blocks for edge in block]
        counts = len(content.blocks), len(content.duplicates)
        found = struct.pack(f">IIHH{len(offsets)}H", number, content.window, *counts, *offsets)
        return found + b"".join(struct.pack(">I", tsn & 0xFFFFFFFF) for tsn in content.duplicates)
    if content.kind in (Kind.INIT, Kind.INIT_ACK):
        paths = range(connection.paths)
        addresses = (address(connection, path, of_sender=forward).packed for path in paths)
        parameters = [(5, each) for each in addresses]
        if content.kind == Kind.INIT_ACK:
            parameters.append((7, COOKIE))
        return struct.pack(">IIHHI", tag, content.window, 1, 1, 1) + _parameters(parameters)
    if content.kind in (Kind.HEARTBEAT, Kind.HEARTBEAT_ACK):
        return _parameters([(1, struct.pack(">q", content.tsn))])
    return COOKIE if content.kind == Kind.COOKIE_ECHO else b""


def _parameters(values: Iterable[tuple[int, bytes]]) -> bytes:
    """Return parameters of a chunk by their types; the values have whole words."""
    return b"".join(struct.pack(">HH", kind, 4 + len(value)) + value for kind, value in values)


def _ports(connection: Connection, forward: bool) -> tuple[int, int]:
    client = FIRST_PORT + connection.number % PORTS
    return (client, SERVER_PORT) if forward else (SERVER_PORT, client)


def _put(data: bytes, at: int, value: bytes) -> bytes:
    return data[:at] + value + data[at + len(value) :]
