"""Outcomes that are zero in every replication of a scenario, because nothing in it can cause them."""

from collections.abc import Collection, Iterator
from typing import Any

import pandas as pd

from netcarlo.networks.flows import ManyFlows
from netcarlo.scenario import Scenario
from netcarlo.schema import fields
from netcarlo.schema.quantity import bounds
from netcarlo.simulation import measurable
from netcarlo.simulation.outcomes import listed
from netcarlo.transport.kinds import sender_of

FIELDS = {
    "drops_random": (
        "loss", "bursts", "frame_error", "residual_error", "trace", "policer", "red", "signalling_loss",
        "failures", "outages",
    ),
    "drops_outage": ("outages", "mobility", "trace"),
    "destroyed": ("outages", "mobility", "trace"),
    "sent_alternate": ("paths.1",),
    "marked": ("ecn",),
    "loss_relay": ("chain", "tree", "area", "places", "nodes"),
    "loss_leg": ("wire", "sender_delay", "receiver"),
    "noise_losses": ("frame_error",),
    "false_alarms": ("false_alarm",),
}  # fmt: skip
"""Fields that can cause an outcome: parts of dotted names. Without any of them it is zero."""

OF_PROBING = ("probes", "probe_cycles", "probe_time_s", "spared")
"""Outcomes of the protocols `PROBING`."""
PROBING = frozenset({"probing", "new_probing", "elfn", "eln"})
"""Protocols that stop sending or probe when a route breaks."""

OF_ROUTING = ("discoveries", "routing_frames", "route_errors", "salvaged", "shortened", "false_breaks")
"""Outcomes of a routing protocol that searches for routes (DSR)."""

OF_ACKS = (
    "acked", "in_order", "retransmitted", "timeouts", "fast_retransmits", "cwnd_reductions", "ack_drops",
    "handshakes",
)  # fmt: skip
"""Outcomes of flows with acknowledgements: TCP and SCTP."""


def zero_by_construction(scenario: Scenario, frame: pd.DataFrame) -> frozenset[str]:
    """Return the outcomes of a frame that are 0 in all its rows and that nothing in the scenario can cause.

    An outcome with any other value is never among them.
    """
    zero = {name for name in listed(frame) if (frame[name] == 0).all()}
    if not zero:
        return frozenset()
    return frozenset(zero & (set(_without_cause(scenario)) | (zero - {*measurable.outcomes(scenario)})))


def _without_cause(scenario: Scenario) -> Iterator[str]:
    names = _given(scenario)
    for outcome, causes in FIELDS.items():
        if not any(_names(cause, names) for cause in causes):
            yield outcome
    protocols = [sender.protocol for sender in senders(scenario) if hasattr(sender, "protocol")]
    if not PROBING & set(protocols):
        yield from OF_PROBING
    if scenario.adhoc is not None and scenario.adhoc.routing != "dsr":
        yield from OF_ROUTING
    if all(sender.datagrams for sender in senders(scenario)):
        yield from OF_ACKS
    if scenario.shared is not None or scenario.wireless is not None:
        yield "handshakes"


def mentions(scenario: Scenario, field: str) -> bool:
    """Return whether a scenario has a field of this name, at any place, with a value that is not zero."""
    return _names(field, _given(scenario))


def _given(scenario: Scenario) -> set[str]:
    return {name for name, value in fields.flat(scenario) if _says_something(value)}


def senders(scenario: Scenario) -> list[Any]:
    """Return the sender of each record of flows of a scenario."""
    network = scenario.network
    if not isinstance(network, ManyFlows) or isinstance(items := getattr(network, "flows", ""), str):
        return [scenario.transport]
    found = []
    for item in items:
        each = getattr(item, "each", item)
        found += [
            sender_of(scenario.transport, flow) for flow in (each if isinstance(each, list) else [each])
        ]
    return found


def _says_something(value: Any) -> bool:
    """Return whether a value of a field is more than zero, false or nothing."""
    if isinstance(value, bool | str) or value is None:
        return bool(value)
    try:
        return bounds(value)[1] != 0
    except (TypeError, AttributeError):
        return True


def _names(cause: str, names: Collection[str]) -> bool:
    """Return whether one of the dotted names has the parts of `cause`, next to each other."""
    return any(f".{cause}." in f".{name}." for name in names)
