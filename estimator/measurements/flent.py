"""Data files of flent, `*.flent` and `*.flent.gz` (flent.org, "The Data File Format"; versions 2 to 4).

* The flows are the series `TCP upload ...` and `TCP download ...` in Mbit/s, without flent's own sums and
  means. Their goodput is `MEAN_VALUE` of netperf where it is given, else the mean of the series.
* Pings run longer than the flows: RTT is averaged over the time in which flows send.
* The RTT of a flow itself (`tcp_rtt`, with `--socket-stats`) is preferred to that of pings.
* With flows in both directions, totals are those of the uploads.
"""

import math
import re
from typing import Any

import numpy as np

from netcarlo.errors import InputError
from netcarlo.measurements.fields import Fields
from netcarlo.measurements.record import Curve, Flow, Measurement, averaged
from netcarlo.numerics.arrays import Bools, Floats

_FLOW = re.compile(r"(TCP|UDP) (upload|download)(?!.*\b(?:avg|sum|fairness)\b)( [^:]*)?(::\d+)?")
_PING = re.compile(r"Ping \(ms\) (?!avg)[^:]*")


def parse(data: dict[str, Any], source: str) -> Measurement:
    """Return the run in a flent file. Raises InputError without the name of the file."""
    top = Fields(data)
    metadata = top.inside("metadata")
    x = np.array(top.series("x_values"))
    names = sorted(top.inside("results").data)
    if len(x) < 2 or not (np.diff(x) > 0).all():
        top.faults.append("x_values are not two or more increasing times")
    top.refuse()
    series = {name: one for name in names if (one := _series(top, name, x)) is not None}
    step = metadata.number("STEP_SIZE", float(np.median(np.diff(x))))
    top.refuse()
    found = {name: one for name, one in series.items() if _FLOW.fullmatch(name) and np.isfinite(one).any()}
    if not found:
        have = ", ".join(names) or "none"
        raise InputError(f"has no series of TCP uploads or downloads; its series are {have[:300]}")
    upload = any("upload" in name for name in found)
    main = {name: one for name, one in found.items() if ("upload" in name) == upload}
    inside = _sending(x, list(main.values()), metadata)
    begin = float(x[inside][0])
    starts, ends = x[inside] - begin, x[inside] - begin + step

    def curve(given: Floats, factor: float) -> Curve:
        return Curve(starts, ends, given[inside] * factor)

    meta = metadata.inside("SERIES_META")
    flows = tuple(_flow(name, one, curve, series, meta) for name, one in main.items())
    pings = [curve(one, 1e-3) for name, one in series.items() if _PING.fullmatch(name)]
    pings = [one for one in pings if np.isfinite(one.values).any()]
    notes = list[str]()
    curves = {"goodput_bps": curve(np.sum([_filled(one) for one in main.values()], axis=0), 1e6)}
    own = [flow.curves["mean_rtt_s"] for flow in flows if "mean_rtt_s" in flow.curves]
    if own or pings:
        curves["mean_rtt_s"] = averaged(own or pings)
    if pings and not own:
        notes.append(
            "RTT is that of pings: with fair queueing they do not wait behind the packets of a transfer"
        )
    elif own and len(own) < len(flows):
        notes.append(f"RTT is that of {len(own)} of {len(flows)} flows; the file has no RTT of the others")
    windows = [flow.curves["mean_cwnd_packets"] for flow in flows if "mean_cwnd_packets" in flow.curves]
    if windows:
        curves["mean_cwnd_packets"] = averaged(windows)
    if others := len(found) - len(main):
        notes.append(f"Totals leave out the {others} download{'s' * (others > 1)}")
    values = {name: one.mean() for name, one in curves.items()}
    values["goodput_bps"] = math.fsum(flow.values["goodput_bps"] for flow in flows)
    top.refuse()
    test, title = metadata.text("NAME"), metadata.text("TITLE")
    why = "flent records no retransmissions"
    missing = {
        "retransmitted": why,
        "loss_ratio": "flent records no losses of TCP",
        "mean_rtt_s": "the file has no pings",
    }
    return Measurement(
        source=source,
        program=f"flent {metadata.text('FLENT_VERSION')}".strip(),
        start_s=0.0,
        end_s=float(ends[-1]),
        values=values,
        curves=curves,
        flows=flows,
        setting={
            "protocol": "TCP", "test": test, "title": title, "flows": str(len(flows)),
            "direction": "upload" if upload else "download",
        },
        missing={name: text for name, text in missing.items() if name not in values},
        notes=tuple(notes),
    )  # fmt: skip


def _series(top: Fields, name: str, x: Floats) -> Floats | None:
    """Return a series of the results; None if it has no numbers, as for some other probes."""
    results = top.inside("results")
    if not (_FLOW.fullmatch(name.split("::tcp_")[0]) or _PING.fullmatch(name)):
        return None
    values = np.array(results.series(name))
    if len(values) not in (0, len(x)):
        top.faults.append(f"results.{name} has {len(values)} values; expected {len(x)}, as x_values")
        return None
    return values if len(values) else None


def _sending(x: Floats, flows: list[Floats], metadata: Fields) -> Bools:
    """Return the mask of the times in which flows send: the length of the test, from their first value."""
    have = np.isfinite(flows).any(axis=0)
    sending = x[have]
    length = metadata.number("LENGTH", 0.0)
    length = length if length > 0 else math.inf
    return np.asarray((x >= sending[0]) & (x <= sending[-1]) & (x < sending[0] + length - 1e-9))


def _filled(values: Floats) -> Floats:
    """Return a rate without gaps: interpolated between its values, 0 before the first and after the last."""
    at = np.arange(len(values))
    known = np.isfinite(values)
    if not known.any():
        return np.zeros(len(values))
    return np.asarray(np.interp(at, at[known], values[known], left=0.0, right=0.0))


def _flow(name: str, values: Floats, curve: Any, series: dict[str, Floats], meta: Fields) -> Flow:
    curves = {"goodput_bps": curve(values, 1e6)}
    for end, outcome, factor in (("tcp_rtt", "mean_rtt_s", 1e-3), ("tcp_cwnd", "mean_cwnd_packets", 1.0)):
        more = series.get(f"{name}::{end}")
        if more is not None and np.isfinite((one := curve(more, factor)).values).any():
            curves[outcome] = one
    found = {outcome: one.mean() for outcome, one in curves.items()}
    whole = meta.inside(name).number("MEAN_VALUE", math.nan)
    if math.isfinite(whole):
        found["goodput_bps"] = whole * 1e6
    return Flow(name, found, curves)
