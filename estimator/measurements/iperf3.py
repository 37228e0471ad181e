"""Output of `iperf3 --json` and of `--json-stream` (github.com/esnet/iperf, src/iperf_api.c).

* Goodput is what the receiver read (`end.sum_received`). The sender's total also counts data in its socket
  buffer. Of UDP it is the same, or the sender's total less the lost datagrams (before iperf 3.11).
* Intervals with `omitted` are left out; the times of the others begin again at 0. A last interval that is
  much shorter than the others is left out, too.
* The curve of the goodput is what the server received, if the file has its output (`--get-server-output`).
* The round-trip time is the mean of the kernel's smoothed RTT (`tcpi_rtt`) at the end of each interval that
  is not omitted. `end.streams.*.sender.mean_rtt` includes omitted intervals.
* With several streams the RTT is the mean over streams; rates and retransmissions are sums.
* With `--bidir` the totals are those of the streams that the client sends.
"""

import json
import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from netcarlo.errors import InputError
from netcarlo.measurements.fields import Fields
from netcarlo.measurements.record import Curve, Flow, Measurement, added, averaged

SHORT = 0.5
"""Share of the usual length below which the last interval is left out."""


def parse(data: dict[str, Any], source: str) -> Measurement:
    """Return the run in the JSON of iperf3. Raises InputError without the name of the file."""
    top = Fields(data)
    start, end = top.inside("start"), top.inside("end")
    test = start.inside("test_start")
    trouble = top.text("error")
    if not (end.has("sum_received") or end.has("sum_sent") or end.has("sum")):
        what = (
            f"iperf3 stopped with the error {trouble!r}" if trouble else "it has no totals (end.sum_received)"
        )
        raise InputError(f"has no result: {what}; run iperf3 again")
    protocol = test.text("protocol").upper() or ("UDP" if end.has("sum") else "TCP")
    udp = protocol == "UDP"
    notes = [f"iperf3 stopped early: {trouble}"] if trouble else []
    omit = test.number("omit", 0.0)
    totals = _totals(end, udp=udp, notes=notes)
    flows, left = _flows(top, start, end, udp=udp, omit=omit)
    length = end.inside("sum_sent" if end.has("sum_sent") else "sum").number(
        "seconds", test.number("duration", 0.0)
    )
    if math.isfinite(test.number("duration", math.nan)) and not test.number("bytes", 0.0):
        length = min(length, test.number("duration")) or length
    top.refuse()
    if not length > 0:
        raise InputError(f"measured no time: {trouble or 'it has 0 seconds'}; run iperf3 again")
    if left:
        notes.append(f"Totals leave out the {left} stream{'s' * (left > 1)} of the other direction (--bidir)")
    curves = {
        name: (averaged if name.startswith("mean_") else added)([flow.curves[name] for flow in flows])
        for name in (flows[0].curves if flows else ())
        if all(name in flow.curves and len(flow.curves[name].values) for flow in flows)
    }
    curves = {name: curve for name, curve in curves.items() if _same_intervals(flows, name)}
    totals |= _means(flows)
    reverse = bool(test.number("reverse", 0.0))
    arrived = None if reverse else _server_curve(top.inside("server_output_json"), omit=omit)
    if arrived is not None:
        curves["goodput_bps"] = arrived
    written = "goodput_bps" in curves and not reverse and not udp and arrived is None
    top.refuse()
    setting = {
        "protocol": protocol,
        "congestion control": end.text("sender_tcp_congestion"),
        "flows": str(len(flows) or test.whole("num_streams", 1)),
        "direction": "server to client (--reverse)" if reverse else "client to server",
    }
    if written:
        notes.append(
            "The curve of the goodput is what the sender wrote in each interval; the total is what arrived"
        )
    return Measurement(
        source=source,
        program=start.text("version").replace("iperf", "iperf3", 1) or "iperf3",
        start_s=omit,
        end_s=omit + length,
        values=totals,
        curves=curves,
        flows=flows,
        setting={name: text for name, text in setting.items() if text},
        missing=_missing(totals, udp=udp, reverse=reverse),
        written=written,
        notes=tuple(notes),
    )  # fmt: skip


def _server_curve(server: Fields, *, omit: float) -> Curve | None:
    """Return what the server received over time; None without its output (`--get-server-output`)."""
    rows = [interval.inside("sum") for interval in server.every("intervals") if interval.has("sum")]
    rows = [row for row in rows if not row.data.get("omitted")]
    return _curves(rows, omit=omit, mss=0.0, received=True).get("goodput_bps") if rows else None


def _totals(end: Fields, *, udp: bool, notes: list[str]) -> dict[str, float]:
    """Return the totals of all streams that the summary has."""
    if udp:
        total = end.inside("sum" if end.has("sum") else "sum_received")
        lost, packets = total.number("lost_packets", math.nan), total.number("packets", math.nan)
        share = lost / packets if packets else math.nan
        received = end.inside("sum_received").number("bits_per_second", math.nan)
        if not received > 0:
            received = total.number("bits_per_second") * (1 - (share if math.isfinite(share) else 0.0))
        found = {
            "goodput_bps": received,
            "loss_ratio": share,
        }
        return {name: value for name, value in found.items() if math.isfinite(value)}
    if end.has("sum_received"):
        found = {"goodput_bps": end.inside("sum_received").number("bits_per_second")}
    else:
        found = {"goodput_bps": end.inside("sum_sent").number("bits_per_second")}
        notes.append("The goodput is what the sender wrote, because the file has no total of the receiver")
    sent = end.inside("sum_sent")
    if sent.has("retransmits"):
        found["retransmitted"] = sent.number("retransmits")
    return found


def _flows(
    top: Fields, start: Fields, end: Fields, *, udp: bool, omit: float
) -> tuple[tuple[Flow, ...], int]:
    """Return the streams of the main direction with their curves, and the number of the others."""
    rows: dict[int, list[Fields]] = {}
    for interval in top.every("intervals"):
        for row in interval.every("streams") or ([interval.inside("sum")] if interval.has("sum") else []):
            if not row.data.get("omitted"):
                rows.setdefault(row.whole("socket"), []).append(row)
    reverse = bool(start.inside("test_start").number("reverse", 0.0))
    both = bool(start.inside("test_start").number("bidir", 0.0)) or end.has("sum_received_bidir_reverse")
    mss = start.number("tcp_mss", start.number("tcp_mss_default", 0.0))
    found, left = list[Flow](), 0
    for number, stream in enumerate(end.every("streams"), 1):
        sender, receiver = stream.inside("udp" if udp else "sender"), stream.inside("receiver")
        socket = sender.whole("socket", receiver.whole("socket"))
        if both and sender.data.get("sender") is False:
            left += 1
            continue
        values = {} if udp else {"goodput_bps": receiver.number("bits_per_second", math.nan)}
        if udp:
            lost, packets = sender.number("lost_packets", math.nan), sender.number("packets", math.nan)
            share = lost / packets if packets else math.nan
            values = {
                "goodput_bps": sender.number("bits_per_second", math.nan) * (1 - share),
                "loss_ratio": share,
            }
        elif sender.has("retransmits"):
            values["retransmitted"] = sender.number("retransmits")
        mine = rows.get(socket, rows.get(0, []) if len(end.every("streams")) == 1 else [])
        curves = _curves(mine, omit=omit, mss=mss, received=reverse)
        if not udp:
            rtt = (
                curves["mean_rtt_s"].mean()
                if "mean_rtt_s" in curves
                else sender.number("mean_rtt", 0.0) / 1e6
            )
            if rtt > 0:
                values["mean_rtt_s"] = rtt
        if "mean_cwnd_packets" in curves:
            values["mean_cwnd_packets"] = curves["mean_cwnd_packets"].mean()
        known = {name: value for name, value in values.items() if math.isfinite(value)}
        found.append(Flow(f"stream {number}", known, curves))
    return tuple(found), left


def _curves(rows: list[Fields], *, omit: float, mss: float, received: bool) -> dict[str, Curve]:
    """Return the intervals of a stream by outcome."""
    if not rows:
        return {}
    starts, ends = (np.array([row.number(name) for row in rows]) for name in ("start", "end"))
    lengths = ends - starts
    if len(rows) > 1 and lengths[-1] < SHORT * np.median(lengths):
        rows, starts, ends, lengths = rows[:-1], starts[:-1], ends[:-1], lengths[:-1]
    starts, ends = starts + omit, ends + omit

    def curve(name: str, factor: float = 1.0) -> Curve | None:
        if not any(row.has(name) for row in rows):
            return None
        return Curve(starts, ends, np.array([row.number(name, math.nan) for row in rows]) * factor)

    found = {
        "goodput_bps": curve("bits_per_second"),
        "mean_rtt_s": curve("rtt", 1e-6),
        "retransmitted": curve("retransmits"),
        "mean_cwnd_packets": curve("snd_cwnd", 1 / mss) if mss > 0 else None,
        "loss_ratio": curve("lost_percent", 0.01) if received else None,
    }
    return {name: one for name, one in found.items() if one is not None}


def _same_intervals(flows: Iterable[Flow], name: str) -> bool:
    return len({len(flow.curves[name].values) for flow in flows}) == 1


def _means(flows: tuple[Flow, ...]) -> dict[str, float]:
    """Return the means over streams of round-trip time and window."""
    found = {}
    for name in ("mean_rtt_s", "mean_cwnd_packets"):
        values = [flow.values[name] for flow in flows if name in flow.values]
        if values:
            found[name] = math.fsum(values) / len(values)
    return found


def _missing(totals: dict[str, float], *, udp: bool, reverse: bool) -> dict[str, str]:
    """Return the reason why each missing outcome was not measured, by outcome."""
    who = (
        "the client receives (--reverse), and only a sender knows it"
        if reverse
        else "iperf3 of this system lacks it"
    )
    reasons = {"mean_rtt_s": who, "retransmitted": who, "loss_ratio": "iperf3 counts losses of UDP only"}
    if udp:
        why = "UDP has no acknowledgements"
        reasons = {"mean_rtt_s": why, "retransmitted": why, "loss_ratio": "the file has no count of losses"}
    reasons["mean_delay_s"] = "iperf3 measures no one-way delay"
    if udp:
        reasons["jitter_s"] = "iperf3 prints the last value of the filter of RFC 3550, not a mean"
    return {name: why for name, why in reasons.items() if name not in totals}


def stream(text: str) -> dict[str, Any] | None:
    """Return the output of `--json-stream` (a JSON object per line) in the form of `--json`; None for other
    texts."""
    found: dict[str, Any] = {"intervals": []}
    for line in text.splitlines():
        try:
            event = json.loads(line)
        except ValueError:
            return None
        if not isinstance(event, dict) or not {"event", "data"} <= event.keys():
            return None
        if event["event"] == "interval":
            found["intervals"].append(event["data"])
        else:
            found[str(event["event"])] = event["data"]
    return found if "start" in found else None
