"""Fields that cheap models do not read: an answer names those that a scenario changes from their default."""

from collections.abc import Iterator
from fnmatch import fnmatchcase
from typing import Any

from pydantic_core import PydanticUndefined

from netcarlo.scenario import Scenario
from netcarlo.schema.record import Record

_TIMERS = ("max_rto", "initial_rto", "ack_delay", "tick", "clock_phase")
_START = ("initial_window", "initial_ssthresh", "handshake")
_HOPS = ("*.ack_loss", "*.ack_bursts", "*.reverse.queue", "paths.*.tick")
_RADIO = ("wireless.eifs", "wireless.long_retry", "wireless.survival", "wireless.back_pressure")


def _of_transport(*names: str) -> tuple[str, ...]:
    return tuple(f"transport.{name}" for name in names)


IGNORED: dict[tuple[str, str], tuple[str, ...]] = {
    ("fluid", "paths"): (*_of_transport("sack_block", "sack_first"), *_HOPS),
    ("fluid", "shared"): (
        *_of_transport("sack_block", "duplicate_acks", *_TIMERS), "*.ecn", "*.reverse.queue", "*.reverse.red",
        "*.jitter",
    ),
    ("fluid", "wireless"): (
        *_of_transport("sack_block", "duplicate_acks", "jitter", "stop", *_TIMERS, *_START), *_RADIO,
    ),
    ("fluid", "adhoc"): (
        *_of_transport("sack_block", "duplicate_acks", "receive_buffer", "initial_rto", "ack_delay",
                       "initial_window", "initial_ssthresh"),
        "adhoc.capture", "adhoc.energy.*", "adhoc.radio.eifs",
    ),
    ("formula", "paths"): (
        *_of_transport("start", "sack_block", "duplicate_acks", *_TIMERS, *_START), *_HOPS,
    ),
    ("formula", "paths sctp"): (
        *_of_transport("sack_first", "probe_first", "max_burst", "rules", "initial_cwnd", "ssthresh_floor",
                       "path_max_retrans", "failback", "heartbeat_interval", "min_rto", "ack_every"),
        "paths.1.*",
    ),
    ("formula", "shared"): (
        *_of_transport("start", "sack_block", "duplicate_acks", "min_rto", "ack_every", "window",
                       "receive_buffer", "send_buffer", *_TIMERS, *_START),
        "*.window", "*.queue", "*.red", "*.red.*", "*.ecn", "*.reverse.*", "*.jitter",
        "shared.flows.*.protocol",
        "shared.flows.*.udp.bytes", "shared.flows.*.udp.packets",
    ),
    ("formula", "wireless"): (
        *_of_transport("start", "stop", "jitter"), *_RADIO, "wireless.queue", "wireless.cw_max",
        "wireless.gateway_burst", "wireless.best_interval",
    ),
}  # fmt: skip
"""By fidelity and network (and transport): patterns of the names of fields that the model does not read."""


def fields(scenario: Scenario) -> list[str]:
    """Return the names of the fields that differ from their default and that the fidelity does not read."""
    network = scenario.network.key
    keys = network, f"{network} {scenario.transport.protocol}"
    patterns = [one for key in keys for one in IGNORED.get((scenario.fidelity, key), ())]
    return [name for name in changed(scenario) if any(fnmatchcase(name, one) for one in patterns)]


def changed(record: Any, at: str = "") -> Iterator[str]:
    """Yield the dotted names of the fields of a record, and inside it, that differ from their default."""
    if isinstance(record, list):
        for i, item in enumerate(record):
            yield from changed(item, f"{at}.{i}")
    elif isinstance(record, Record):
        for field, info in type(record).model_fields.items():
            value, name = getattr(record, field), f"{at}.{field}" if at else field
            default = info.get_default(call_default_factory=True)
            if default is PydanticUndefined or value != default:
                yield name
                yield from changed(value, name)
