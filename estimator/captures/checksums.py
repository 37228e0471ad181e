"""Checksums of packets whose payload is zeros.

Sources: RFC 1071 (the Internet checksum) and RFC 9260, appendix A (CRC32c).
"""

import functools

POLYNOMIAL = 0x82F63B78
"""Polynomial of CRC32c, bits reversed."""


def internet(header: bytes) -> int:
    """Return the Internet checksum of a header of an even number of bytes, followed by zeros."""
    total = sum(int.from_bytes(header[k : k + 2]) for k in range(0, len(header), 2))
    while total > 0xFFFF:
        total = (total & 0xFFFF) + (total >> 16)
    return total ^ 0xFFFF


def crc32c(header: bytes, zeros: int) -> int:
    """Return the CRC32c of a header followed by this number of zero bytes."""
    register = 0xFFFFFFFF
    for byte in header:
        register = _TABLE[(register ^ byte) & 0xFF] ^ register >> 8
    after = 0
    for bit, column in enumerate(_columns(zeros)):
        if register >> bit & 1:
            after ^= column
    return after ^ 0xFFFFFFFF


@functools.cache
def _columns(zeros: int) -> tuple[int, ...]:
    """Return the register after zero bytes if it had only bit 0, 1, ..., 31 before: the map is linear."""
    columns = [1 << bit for bit in range(32)]
    for _ in range(zeros):
        columns = [_shift(column) for column in columns]
    return tuple(columns)


def _shift(register: int) -> int:
    return _TABLE[register & 0xFF] ^ register >> 8


def _entry(byte: int) -> int:
    for _ in range(8):
        byte = byte >> 1 ^ (POLYNOMIAL if byte & 1 else 0)
    return byte


_TABLE = tuple(map(_entry, range(256)))
