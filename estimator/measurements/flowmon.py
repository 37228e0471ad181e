"""XML of ns-3's FlowMonitor (nsnam.org, model library, "Flow Monitor"; ns-3, flow-monitor.cc).

For each flow, times being texts such as `+2.08e+07ns`:

* mean delay = delaySum / rxPackets; jitter = jitterSum / (rxPackets - 1);
* loss = lostPackets / txPackets, where ns-3 counts a packet as lost if it has not arrived after 10 s;
* rate = 8 rxBytes / (timeLastRxPacket - timeFirstTxPacket).

Bytes include the headers of IP and the transport. The goodput is the rate without them: 28 B of each packet
for UDP, 52 B for TCP with timestamps (its default), over IPv4; 20 B more over IPv6. A flow whose addresses
and ports are those of another one in reverse and that has smaller packets carries its ACKs and is left out.
"""

import math
import re
from dataclasses import dataclass
from typing import Any
from xml.parsers import expat

from netcarlo.errors import InputError
from netcarlo.measurements.record import Flow, Measurement

TIMES = (
    "timeFirstTxPacket", "timeFirstRxPacket", "timeLastTxPacket", "timeLastRxPacket", "delaySum", "jitterSum"
)  # fmt: skip
COUNTS = ("txBytes", "rxBytes", "txPackets", "rxPackets", "lostPackets")
HEADERS = {"17": 28, "6": 52}
"""Bytes of IPv4 and transport headers of a data packet, by protocol number."""
NAMES = {"17": "UDP", "6": "TCP"}
FEW = 100
"""Packets below which the ends of the measured time matter for a rate."""

_TIME = re.compile(r"([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)(ns|us|ms|s|ps|fs|min|h)?")
_UNITS = {
    "fs": 1e-15,
    "ps": 1e-12,
    "ns": 1e-9,
    "us": 1e-6,
    "ms": 1e-3,
    "s": 1.0,
    "min": 60.0,
    "h": 3600.0,
    None: 1.0,
}


@dataclass(frozen=True)
class _Flow:
    """Flow in the file: times [s], counts, and its tuple of addresses."""

    id: str
    values: dict[str, float]
    protocol: str
    ends: tuple[str, ...]
    ipv6: bool

    @property
    def length_s(self) -> float:
        return self.values["timeLastRxPacket"] - self.values["timeFirstTxPacket"]

    @property
    def size(self) -> float:
        """Mean size of a packet sent [byte]."""
        return self.values["txBytes"] / (self.values["txPackets"] or 1)

    @property
    def payload(self) -> float:
        """Received bytes without headers."""
        header = HEADERS.get(self.protocol, HEADERS["17"]) + 20 * self.ipv6
        return max(self.values["rxBytes"] - header * self.values["rxPackets"], 0.0)


def parse(text: str, source: str) -> Measurement:
    """Return the run in the XML of a FlowMonitor. Raises InputError, with a line for each fault."""
    stats, known = _elements(text)
    faults = list[str]()
    flows = [_flow(line, given, known, faults) for line, given in stats]
    if faults:
        raise InputError(*faults)
    if not any(flow.values["rxPackets"] for flow in flows):
        raise InputError(
            f"has {len(flows)} flows in FlowStats, of which none received a packet; check the run"
        )
    data = [flow for flow in flows if not _carries_acks(flow, flows) and flow.values["rxPackets"]]
    notes = list[str]()
    if left := len(flows) - len(data):
        notes.append(f"Totals leave out {left} flow{'s' * (left > 1)} of ACKs, or without a received packet")
    protocols = {NAMES.get(flow.protocol, "") for flow in data}
    if any(flow.protocol not in HEADERS for flow in data):
        notes.append(
            "The file does not say which protocol flows have; goodput is counted as of UDP (28 B of headers)"
        )
    elif "TCP" in protocols:
        notes.append("Goodput is what arrived without 52 B of headers in each packet; it includes duplicates")
    begin = min(flow.values["timeFirstTxPacket"] for flow in data)
    end = max(flow.values["timeLastRxPacket"] for flow in data)
    few = min(flow.values["rxPackets"] for flow in data)
    if few < FEW:
        most = f"by up to 1 in {few - 1:.0f}" if few > 1 else "without a limit"
        notes.append(
            f"A flow has {few:.0f} packets: its rate, over the time from first to last, is too high {most}"
        )
    total = {
        name: math.fsum(flow.values[name] for flow in data) for name in (*COUNTS, "delaySum", "jitterSum")
    }
    spaced = math.fsum(max(flow.values["rxPackets"] - 1, 0) for flow in data)
    parts = tuple(Flow(flow.id, _values(flow)) for flow in data)
    return Measurement(
        source=source,
        program="ns-3 FlowMonitor",
        start_s=0.0,
        end_s=end - begin,
        values={
            "goodput_bps": math.fsum(part.values["goodput_bps"] for part in parts),
            "throughput_bps": math.fsum(part.values["throughput_bps"] for part in parts),
            "loss_ratio": total["lostPackets"] / total["txPackets"],
            "mean_delay_s": total["delaySum"] / total["rxPackets"],
            **({"jitter_s": total["jitterSum"] / spaced} if spaced else {}),
        },
        flows=parts,
        setting={"protocol": ", ".join(sorted(filter(None, protocols))), "flows": str(len(data))},
        missing={
            "mean_rtt_s": "FlowMonitor measures one-way delays",
            "retransmitted": "FlowMonitor does not tell retransmissions apart",
        },
        notes=tuple(notes),
    )


def _values(flow: _Flow) -> dict[str, float]:
    given = flow.values
    length = flow.length_s or math.nan
    found = {
        "goodput_bps": 8 * flow.payload / length,
        "throughput_bps": 8 * given["rxBytes"] / length,
        "loss_ratio": given["lostPackets"] / (given["txPackets"] or math.nan),
        "mean_delay_s": given["delaySum"] / given["rxPackets"],
        "jitter_s": given["jitterSum"] / (given["rxPackets"] - 1) if given["rxPackets"] > 1 else math.nan,
    }
    return {name: value for name, value in found.items() if math.isfinite(value)}


def _carries_acks(flow: _Flow, others: list[_Flow]) -> bool:
    back = (*flow.ends[2:], *flow.ends[:2])
    return bool(flow.ends) and any(other.ends == back and other.size > flow.size for other in others)


def _elements(text: str) -> tuple[list[tuple[int, dict[str, str]]], dict[str, tuple[dict[str, str], bool]]]:
    """Return the flows of FlowStats with their lines, and their addresses by number with True for IPv6."""
    stats: list[tuple[int, dict[str, str]]] = []
    known: dict[str, tuple[dict[str, str], bool]] = {}
    within: list[str] = []
    parser = expat.ParserCreate()

    def start(name: str, given: dict[str, str]) -> None:
        if name == "Flow" and within[-1:] == ["FlowStats"]:
            stats.append((parser.CurrentLineNumber, given))
        elif name == "Flow" and within and within[-1].endswith("FlowClassifier"):
            known[given.get("flowId", "")] = given, within[-1].startswith("Ipv6")
        within.append(name)

    def entity(*_: Any) -> None:
        raise InputError(f"line {parser.CurrentLineNumber}: declares an entity; FlowMonitor writes none")

    parser.StartElementHandler = start
    parser.EndElementHandler = lambda name: within.pop()
    parser.EntityDeclHandler = entity
    try:
        parser.Parse(text.encode(), True)
    except expat.ExpatError as error:
        raise InputError(
            f"line {error.lineno}: is not XML ({expat.ErrorString(error.code)}); write it again"
        ) from None
    if not stats:
        raise InputError("has no Flow in FlowStats; call SerializeToXmlFile after the run")
    return stats, known


def _flow(
    line: int, given: dict[str, str], known: dict[str, tuple[dict[str, str], bool]], faults: list[str]
) -> _Flow:
    values = {}
    for name in (*TIMES, *COUNTS):
        text = given.get(name, "")
        match = _TIME.fullmatch(text.strip())
        if match is None or (name in COUNTS and (match[2] or float(match[1]) < 0)):
            what = "a time such as +2.08e+07ns" if name in TIMES else "a number"
            faults.append(
                f"line {line}: flow {given.get('flowId', '?')} has {name} = {text!r}; expected {what}"
            )
            continue
        values[name] = float(match[1]) * (_UNITS[match[2]] if name in TIMES else 1.0)
    at, ipv6 = known.get(given.get("flowId", ""), ({}, False))
    ends = tuple(
        at.get(name, "") for name in ("sourceAddress", "sourcePort", "destinationAddress", "destinationPort")
    )
    return _Flow(f"flow {given.get('flowId', '?')}", values, at.get("protocol", ""), ends if at else (), ipv6)
