"""Capture of one replication: simulate it uncompiled, record its packets, and write them as pcapng."""

import importlib.util
from fractions import Fraction
from pathlib import Path
from typing import NamedTuple

import numpy as np

from netcarlo.captures import linux, sctp, tcp, udp
from netcarlo.captures.record import Packet, Recorder
from netcarlo.errors import InputError
from netcarlo.kernels.base.layout import STATUS_RING_FULL, STATUS_TRACE_FULL, Trace
from netcarlo.kernels.base.parameters import RowP
from netcarlo.kernels.base.rows import STATUS
from netcarlo.kernels.runtime import launch
from netcarlo.numerics.arrays import Ints
from netcarlo.scenario import Scenario, ScenarioLike, scenario_of
from netcarlo.schema import destination
from netcarlo.schema.arguments import checked
from netcarlo.simulation.launches import Job, model_of

SIDES = "sender", "receiver"
"""Places at which packets are captured."""

HOOKS = tcp.HOOKS | linux.HOOKS | sctp.HOOKS | udp.HOOKS

LINKTYPE_RAW = 101
"""Link type of packets that begin with the IP header (tcpdump.org/linktypes.html)."""


class Capture(NamedTuple):
    """Packets of a capture."""

    packets: list[Packet]
    """Packets in order of time."""
    outcomes: Ints
    """Outcomes as the kernel writes them, equal to those of the compiled model."""


@checked
def capture(scenario: ScenarioLike, file: str | Path, *, replication: int = 0, at: str = "sender") -> int:
    """Write the packets of one replication to a pcapng file; return their number.

    `at` is "sender" (as tcpdump there sees them: data sent, ACKs received) or "receiver". The replication is
    simulated without compilation, about 5,000 packets per second. Needs scapy. Raises InputError.
    """
    check(file, at=at)
    scenario = scenario_of(scenario)
    if scenario.fidelity != "packet":
        raise InputError(f"fidelity {scenario.fidelity} has no packets to capture; write fidelity: packet")
    if scenario.transport.subflows:
        raise InputError("captures do not show the options of mptcp; write a trace: netcarlo trace FILE")
    if not scenario.transport.captured:
        protocol = scenario.transport.protocol
        raise InputError(
            f"packets of {protocol} are encrypted and cannot be captured; omit --pcap for a trace of events"
        )
    found = recorded(scenario, replication=replication, at=at)
    destination.write(file, lambda path: write(path, found.packets, at=at))
    return len(found.packets)


def check(file: str | Path, *, at: str) -> None:
    """Raise InputError if a capture cannot be written: no such place, no scapy, no writable file."""
    if at not in SIDES:
        raise InputError(f"a capture at {at!r} is not possible; expected {' or '.join(SIDES)}")
    if importlib.util.find_spec("scapy") is None:
        raise InputError("packet captures need scapy: pip install 'netcarlo[pcap]'")
    destination.check_file(file)


class _Captured(bytes):
    """Bytes of a packet, with attributes that the writer of scapy reads."""

    sniffed_on: str
    """Name of the interface."""
    direction: int
    """1: inbound, 2: outbound."""


def recorded(scenario: Scenario, *, replication: int = 0, at: str = "sender") -> Capture:
    """Simulate one replication uncompiled and record the packets at the senders or at the receivers."""
    part = Job(scenario, replication, 1).part()
    model = model_of(scenario)
    model = model.traced or model
    rows = launch._with_rings(part.rows, launch._rings(model, part.rows))
    out = np.zeros((1, model.outcomes(rows)), np.int64)
    length = 1 << 20  # rows of a trace, which also disables shortcuts such as the fast path
    while True:
        recorder = Recorder(HOOKS, rows.parameters[0], at_sender=at == "sender")
        simulate = model.make(recorder)
        *of_row, losses = rows
        with np.errstate(over="ignore"):  # the random numbers are computed modulo 2**64
            scratch, memory = launch._scratch(model, rows)
            trace = np.zeros((length, len(Trace)))
            simulate(*(field[0] for field in of_row), losses, scratch, memory, out[0], trace)
        if out[0, STATUS] == STATUS_TRACE_FULL:
            length *= 4
        elif out[0, STATUS] == STATUS_RING_FULL:
            rows.parameters[:, RowP.RING] *= 2
        else:
            return Capture(sorted(recorder.packets, key=lambda packet: packet.time), out[0])


def write(path: Path, packets: list[Packet], *, at: str) -> None:
    """Write packets to a pcapng file with one interface per flow and times in microseconds."""
    from scapy.utils import RawPcapNgWriter

    from netcarlo.captures import headers

    counts: dict[tuple[int, bool], int] = {}
    with RawPcapNgWriter(str(path)) as file:
        file.linktype = LINKTYPE_RAW
        file.write_header(None)
        for packet in packets:
            which = packet.connection.number, packet.forward
            counts[which] = counts.get(which, 0) + 1
            content = headers.of_packet(packet, counts[which])
            captured = _Captured(content.captured)
            captured.sniffed_on = f"flow {packet.connection.flow}, {at}"
            captured.direction = 2 if packet.forward == (at == "sender") else 1
            file.write_packet(captured, sec=Fraction(packet.time, 10**9), wirelen=content.length)
