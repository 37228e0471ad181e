"""Every field of a scenario changes the answer of a cheap model, is refused, or is listed as ignored."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

from netcarlo import Scenario, simulate
from netcarlo.errors import InputError
from netcarlo.simulation import fidelity, ignored_fields
from tests.properties.fields import changes

HOP = {"rate": "1 Mbit/s", "delay": "10 ms", "queue": 5, "loss": 0.02}
TCP = {"protocol": "newreno", "window": 20}
CHEAP = {"replications": 2, "seed": 3}
BASES: dict[str, Any] = {
    "path": {"hops": [HOP, HOP], "transport": TCP, "duration": "20 s"},
    "outages": {
        "hops": [{**HOP, "outages": {"up": "2 s", "down": "300 ms"}}], "transport": TCP, "duration": "20 s",
    },
    "linux": {"hops": [HOP, HOP], "transport": {"protocol": "linux", "window": 20}, "duration": "20 s"},
    "sctp": {"paths": [{"hops": [HOP]}], "transport": {"protocol": "sctp"}, "duration": "20 s"},
    "shared": {
        "shared": {"dumbbell": HOP, "flows": [{"start": "100 ms"}, {"udp": {"rate": "300 kbit/s"}}]},
        "transport": TCP, "duration": "20 s",
    },
    "cell": {
        "wireless": {"cell": {"stations": 3}, "frame_error": "5 %"}, "transport": TCP, "duration": "2 s",
    },
    "udp cell": {
        "wireless": {"cell": {"stations": 3}}, "transport": {"protocol": "udp", "rate": "20 Mbit/s"},
        "duration": "2 s",
    },
    "adhoc": {
        "adhoc": {
            "nodes": 5, "area": {"side": "300 m"}, "range": "200 m", "frame_error": "3 %",
            "mobility": {"model": "random_waypoint", "speed": "10 m/s"},
        },
        "transport": TCP, "duration": "10 s",
    },
}  # fmt: skip

NOT_HERE = {
    "precision": "of the command, not of a run", "duration": "formulae tell rates of a steady state",
    "warm_up": "the same",
    "sample_interval": "only sampled outcomes have it",
    "transport.start": "an earlier start of endless flows shows in shares only",
    "transport.max_rto": "no timeout is doubled so often here",
    "transport.initial_rto": "no packet is lost before the first sample here",
    "transport.ack_delay": "each packet is acknowledged at once",
    "transport.duplicate_acks": "windows are large enough for both values",
    "transport.handshake": "its size is below what a rate resolves",
    "transport.receiver_window": "the window is smaller",
    "transport.initial_ssthresh": "above the window",
    "transport.slow_start": "a loss ends slow start first",
    "transport.tick": "no timer goes off here", "transport.clock_phase": "the same",
    "transport.min_rto": "no timer goes off here", "transport.max_burst": "bursts are smaller",
    "transport.path_max_retrans": "one path", "transport.failback": "one path",
    "transport.heartbeat_interval": "one path", "transport.rules": "they set other fields, which move",
    "transport.protocol": "windows of all TCPs fill this cell", "transport.window": "the window is full",
    "transport.congestion_control": "windows of all controls fill this cell",
    "paths.*.queue": "the queue of the second hop, or behind the window, stays empty",
    "paths.*.loss": "a loss formula that the window limits", "shared.redraw": "nothing is drawn",
    "*.ecn": "drop-tail queues mark no packets", "shared.dumbbell.red": "its thresholds are above the queue",
    "shared.routing": "a dumbbell has one route", "shared.flows.*.between": "a dumbbell has two ends",
    "*.mpu": "data packets are larger than the least size of a packet",
    "wireless.relays": "stations of a cell are one hop away",
    "wireless.each.downlink.*": "the gateway sends no data",
    "wireless.redraw": "nothing is drawn", "wireless.preamble": "of 802.11b", "wireless.arf_*": "of ARF",
    "wireless.aarf_*": "of AARF", "wireless.each.spacing": "no places", "wireless.cw_max": "few collisions",
    "wireless.gateway_burst": "the gateway sends nothing", "wireless.queue": "the queue is never full",
    "wireless.sender_delay": "datagrams do not wait for answers", "wireless.receiver": "the same",
    "adhoc.ack_error": "ACKs are cumulative", "adhoc.radio.short_retry": "no retry is the last here",
    "adhoc.radio.long_retry": "the same", "adhoc.radio.queue": "the window is smaller",
    "adhoc.observe": "of outcomes that are observed",
}  # fmt: skip
"""Fields without effect in these scenarios by nature, as with packets."""


def same(a: pd.DataFrame, b: pd.DataFrame) -> bool:
    columns = [name for name in a.columns if name in b.columns]
    return all(np.array_equal(a[name].to_numpy(), b[name].to_numpy(), equal_nan=True) for name in columns)


CHEAP_MODELS = {
    (name, kind): Scenario.check({**fields, **CHEAP, "fidelity": kind})
    for name, fields in BASES.items()
    for kind in ("fluid", "formula")
    if (name, kind) not in {("cell", "formula"), ("adhoc", "formula")}  # there are none
}


@pytest.mark.full
@pytest.mark.parametrize(("name", "kind"), CHEAP_MODELS)
def test_every_field_moves_the_answer_or_is_refused_or_named(name: str, kind: str) -> None:
    base = CHEAP_MODELS[name, kind]
    assert not base.network.unknown(base, kind)  # type: ignore[arg-type]
    first, silent, moved = simulate(base).frame, [], 0
    for field, scenario in changes(base):
        if field.split(".")[0] in ("name", "description", "live", "fidelity", "replications", "seed"):
            continue
        if scenario.network.unknown(scenario, kind):  # type: ignore[arg-type]
            continue
        other = scenario.network.address(scenario, fluid=True) != base.network.address(base, fluid=True)
        if kind == "fluid" and other:
            continue
        try:
            found = simulate(scenario).frame
        except InputError:
            continue
        if not same(first, found):
            moved += 1
            continue
        if field in ignored_fields.fields(scenario):
            assert field in str(fidelity.sentence(scenario))
        elif not any(ignored_fields.fnmatchcase(field, one) for one in NOT_HERE):
            silent.append(field)
    assert moved > 5 and silent == []


def test_a_scenario_at_its_defaults_names_nothing() -> None:
    base = Scenario.check({**BASES["path"], **CHEAP, "fidelity": "fluid"})
    assert ignored_fields.fields(base) == []
    lossy = base.with_values({"hops.0.ack_loss": "5 %"})
    assert ignored_fields.fields(lossy) == ["paths.0.hops.0.ack_loss"]
    assert "it ignores paths.0.hops.0.ack_loss" in str(fidelity.sentence(lossy))
    assert fidelity.sentence(lossy.with_values({"fidelity": "packet"})) is None
