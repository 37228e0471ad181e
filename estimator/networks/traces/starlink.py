"""History of a Starlink dish (`dishGetHistory` of its gRPC interface, as JSON): delay and loss per second.

The values are a ring; `current` counts those written so far. The latency of a ping is halved. A second in
which all pings were dropped has loss 1 and the delay of the second before.
"""

import json
from typing import Any

import numpy as np

from netcarlo.errors import InputError
from netcarlo.networks.traces.steps import steps
from netcarlo.networks.traces.trace import Trace


def parse(text: str) -> Trace:
    """Return the trace in a history. Raises InputError."""
    try:
        data: Any = json.loads(text)
    except ValueError as error:
        raise InputError(f"is not JSON ({error})") from None
    history = _found(data)
    if history is None:
        raise InputError(
            "is JSON without popPingLatencyMs and popPingDropRate (the history of a Starlink dish), the only "
            "JSON that is a trace; write a table with the columns time, rate, delay and loss"
        )
    latency, drops = (np.array(history[name], float) for name in ("popPingLatencyMs", "popPingDropRate"))
    if latency.shape != drops.shape or latency.ndim != 1 or len(latency) < 2:
        raise InputError("has lists of different lengths for popPingLatencyMs and popPingDropRate")
    written = int(history.get("current", len(latency)))
    order = (np.arange(len(latency)) + written) % len(latency)
    if written < len(latency):  # the ring is not full
        order = np.arange(written)
    latency, drops = latency[order], drops[order]
    delay = np.where((drops >= 1) | (latency <= 0), np.nan, latency / 2000)
    rows = list(range(1, len(delay) + 1))
    if np.isnan(delay).all():
        raise InputError("has no ping that was answered; use another history")
    return steps(np.arange(len(delay), dtype=float), {"delay": delay, "loss": drops}, rows)


def _found(data: Any) -> dict[str, Any] | None:
    """Return the mapping with the lists of pings, at any depth."""
    if isinstance(data, dict):
        if {"popPingLatencyMs", "popPingDropRate"} <= data.keys():
            return data
        return next((found for value in data.values() if (found := _found(value)) is not None), None)
    return None
