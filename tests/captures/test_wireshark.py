"""Wireshark's analysis of captures compared with our counts: an independent check of the senders."""

from pathlib import Path
from typing import Any

import pytest

from netcarlo.captures.capture import Capture, recorded, write
from netcarlo.captures.record import Chunk, Segment
from netcarlo.kernels.base.layout import Out
from netcarlo.kernels.sctp.state import Kind
from netcarlo.scenario import Scenario
from tests.captures.tshark import damaged, flagged, rows
from tests.tiers import parameters

HOPS: dict[str, dict[str, Any]] = {
    "random loss": {"rate": "10 Mbit/s", "delay": "10 ms", "queue": "50 packets", "loss": "1 %"},
    "queue overflow": {"rate": "5 Mbit/s", "delay": "20 ms", "queue": "15 packets"},
    "reordering": {
        "rate": "10 Mbit/s", "delay": "10 ms", "queue": "50 packets",
        "jitter": {"exponential": {"mean": "1 ms"}, "reorder": True},
    },
    "outages": {
        "rate": "5 Mbit/s", "delay": "20 ms", "queue": "30 packets",
        "outages": [{"start": "1 s", "duration": "1 s"}, {"start": "3 s", "duration": "50 ms"}],
    },
    "heavy loss": {"rate": "2 Mbit/s", "delay": "30 ms", "queue": "20 packets", "loss": "8 %"},
}  # fmt: skip
"""Paths on which packets are lost at random, by queues and by outages, or reordered."""

TRANSPORTS: dict[str, dict[str, Any]] = {
    "newreno": {"protocol": "newreno", "window": "64 packets"},
    "sack": {"protocol": "sack", "window": "64 packets"},
    "linux": {"protocol": "linux", "congestion_control": "cubic"},
    "sctp": {"protocol": "sctp"},
}
FIRST_TIER = [(transport, "heavy loss") for transport in TRANSPORTS]
OTHERS = [
    pytest.param(transport, hop, marks=pytest.mark.full)
    for transport in TRANSPORTS
    for hop in HOPS
    if hop != "heavy loss"
]


def captured(transport: str, hop: str, *, at: str = "sender") -> Capture:
    """Return the capture of 4 s."""
    scenario = Scenario.check(
        {
            "name": "captured", "duration": "4 s", "replications": 1, "transport": TRANSPORTS[transport],
            "hops": [HOPS[hop]],
        }
    )  # fmt: skip
    return recorded(scenario, at=at)


def repeated(found: Capture) -> set[int]:
    """Return the indices of data packets that were sent before."""
    seen: set[int] = set()
    again = set()
    for index, packet in enumerate(found.packets):
        content = packet.content
        if isinstance(content, Segment) and content.payload:
            number = content.sequence
        elif isinstance(content, Chunk) and content.kind == Kind.DATA:
            number = content.tsn
        else:
            continue
        if number in seen:
            again.add(index)
        seen.add(number)
    return again


def duplicate_acks(found: Capture) -> set[int]:
    """Return the indices of ACKs that repeat the number and the window field of the one before."""
    last: tuple[int, int, bool] | None = None
    again = set()
    for index, packet in enumerate(found.packets):
        content = packet.content
        if isinstance(content, Segment) and not packet.forward:
            this = content.acknowledgement, content.window, "S" in content.flags
            if this == last and not this[2]:
                again.add(index)
            last = this
    return again


def needless(found: Capture) -> set[int]:
    """Return the indices of data packets sent after an ACK or a SACK block for them had arrived."""
    acknowledged, reported, sent_in_vain = 0, set[int](), set()
    for index, packet in enumerate(found.packets):
        content = packet.content
        if isinstance(content, Segment) and content.payload:
            if content.sequence < acknowledged or content.sequence in reported:
                sent_in_vain.add(index)
        elif isinstance(content, Segment):
            acknowledged = max(acknowledged, content.acknowledgement)
            for left, right in content.blocks:
                reported |= set(range(left, right, packet.connection.data))
        elif isinstance(content, Chunk) and content.kind == Kind.DATA:
            if content.tsn <= acknowledged or content.tsn in reported:
                sent_in_vain.add(index)
        elif isinstance(content, Chunk) and content.kind == Kind.SACK:
            acknowledged = max(acknowledged, content.tsn)
            reported = {tsn for begin, end in content.blocks for tsn in range(begin, end + 1)}
    return sent_in_vain


@pytest.mark.needs("tshark")
@pytest.mark.parametrize(("transport", "hop"), [*FIRST_TIER, *OTHERS])
def test_wireshark_finds_the_same_retransmissions_and_duplicate_acks(
    transport: str, hop: str, tmp_path: Path
) -> None:
    found = captured(transport, hop)
    file = tmp_path / "sender.pcapng"
    write(file, found.packets, at="sender")
    read = rows(file)
    assert len(read) == len(found.packets)
    assert not damaged(read)
    again = repeated(found)
    assert len(again) == found.outcomes[Out.RETRANSMITTED] > 0
    # Nothing is reordered at the sender: there "out of order" is Wireshark's guess for a retransmission that
    # follows a new segment within 3 ms or the initial RTT.
    kinds = "tcp.analysis.retransmission", "tcp.analysis.out_of_order", "sctp.retransmission"
    assert flagged(read, *kinds) == again
    assert flagged(read, "tcp.analysis.duplicate_ack") == duplicate_acks(found)
    assert not flagged(read, "tcp.analysis.lost_segment", "tcp.analysis.ack_lost_segment")
    assert not flagged(read, "sctp.retransmitted_after_ack") and not needless(found)


@pytest.mark.needs("tshark")
@pytest.mark.parametrize("transport", parameters(["sack", "newreno", "linux"], full=["newreno", "linux"]))
def test_at_the_receiver_every_late_segment_is_found(transport: str, tmp_path: Path) -> None:
    found = captured(transport, "heavy loss", at="receiver")
    file = tmp_path / "receiver.pcapng"
    write(file, found.packets, at="receiver")
    read = rows(file)
    highest, late = 0, set()
    for index, packet in enumerate(found.packets):
        if packet.forward and isinstance(packet.content, Segment) and packet.content.payload:
            if packet.content.sequence < highest:
                late.add(index)
            highest = max(highest, packet.content.sequence)
    assert not damaged(read)
    assert flagged(read, "tcp.analysis.retransmission", "tcp.analysis.out_of_order") == late
