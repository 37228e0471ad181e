"""Reading of a capture by tshark, with every checksum verified."""

import subprocess
from pathlib import Path

FLAGS = ("retransmission", "out_of_order", "duplicate_ack", "lost_segment", "ack_lost_segment")
"""Findings of Wireshark's analysis of TCP (`tcp.analysis.*`)."""

FIELDS = (
    *(f"tcp.analysis.{flag}" for flag in FLAGS), "sctp.retransmission", "sctp.retransmitted_after_ack",
    "ip.checksum.status", "tcp.checksum.status", "sctp.checksum.status", "_ws.malformed", "frame.len",
)  # fmt: skip
SETTINGS = (
    "tcp.check_checksum:TRUE", "ip.check_checksum:TRUE", "sctp.checksum:CRC32c",
    "sctp.relative_tsns:FALSE",  # with relative TSNs tshark 4.0 assigns SACKs to the wrong chunks
)  # fmt: skip
"""Settings with which checksums are verified."""


def rows(file: Path) -> list[dict[str, str]]:
    """Return the fields of each packet; empty where it has none."""
    settings = [word for setting in SETTINGS for word in ("-o", setting)]
    fields = [word for field in FIELDS for word in ("-e", field)]
    command = ["tshark", "-r", str(file), *settings, "-T", "fields", "-E", "separator=|", *fields]
    found = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return [dict(zip(FIELDS, line.split("|"), strict=True)) for line in found.splitlines()]


def flagged(found: list[dict[str, str]], *fields: str) -> set[int]:
    """Return the indices of the packets that have any of these fields."""
    return {index for index, row in enumerate(found) if any(row[field] for field in fields)}


def damaged(found: list[dict[str, str]]) -> set[int]:
    """Return the indices of packets with a wrong checksum or a header that cannot be read."""
    statuses = [f"{protocol}.checksum.status" for protocol in ("ip", "tcp", "sctp")]
    wrong = {index for index, row in enumerate(found) if "0" in [row[status] for status in statuses]}
    return wrong | flagged(found, "_ws.malformed")
