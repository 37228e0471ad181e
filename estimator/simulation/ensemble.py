"""From a scenario to the rows a kernel reads: one row of numbers per replication.

Random quantities are drawn per field name and replication number, so that a row depends neither
on the chunk it is in nor on the fields drawn beside it.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from netcarlo.errors import InputError
from netcarlo.kernels.adhoc.layout import ManetRows
from netcarlo.kernels.base.layout import BYTE_TIME_BITS, FOREVER, PATHS, Hop, P, Rows
from netcarlo.kernels.shared.layout import SharedRows
from netcarlo.networks.adhoc import outcomes as adhoc_outcomes
from netcarlo.networks.adhoc import rows as adhoc_rows
from netcarlo.networks.adhoc.description import Adhoc
from netcarlo.networks.path.mobility import Mobility
from netcarlo.networks.path.rows import Slot, arrays, slots_of
from netcarlo.networks.shared import outcomes as shared_outcomes
from netcarlo.networks.shared import rows as shared_rows
from netcarlo.networks.shared.description import Shared
from netcarlo.networks.wireless import outcomes as wifi_outcomes
from netcarlo.networks.wireless import rows as wifi_rows
from netcarlo.scenario import Hops, Scenario, most_hops
from netcarlo.schema.draws import Draws, Floats, Ints
from netcarlo.transport.columns import fill
from netcarlo.transport.tcp import NS, Tcp

MOST_NUMBERS = 2**32
"""Replications that have random numbers of their own."""


class Ensemble(NamedTuple):
    """Replications of a scenario, ready to run."""

    rows: Any
    """`Rows`, or `WifiRows`, `ManetRows` or `SharedRows` of a wireless, ad hoc or shared network."""
    drawn: pd.DataFrame
    """The random quantities in SI units, a column per dotted field name, indexed by replication."""


def build(scenario: Scenario, *, first: int = 0, replications: int | None = None) -> Ensemble:
    """Rows of `replications` (the scenario's unless given), the first of which has the number `first`.

    Raises InputError.
    """
    count = scenario.replications if replications is None else replications
    if not 0 <= first <= MOST_NUMBERS - count:
        allowed = f"allowed is 0 to {MOST_NUMBERS - 1}"
        raise InputError(f"replication {first if first < 0 else first + count - 1} is none; {allowed}")
    return build_rows(scenario, replications=np.arange(first, first + count, dtype=np.int64))


def build_rows(
    scenario: Scenario, *, replications: Ints, given: Mapping[str, Floats] | None = None
) -> Ensemble:
    """A row for each of the numbers `replications` [n], which may repeat.

    `given` holds values in SI units, float64[n], of fields by dotted name (`topology` among them), in
    place of those of the scenario: so rows of many scenarios that differ in numbers only are built at once.
    """
    given = given or {}
    numbers = np.asarray(replications, np.int64)
    topology = given.get("topology", np.full(len(numbers), scenario.topology)).astype(np.int64)
    draws = Draws(scenario.seed, numbers, topology, given)
    if scenario.shared is not None:
        warm_up = draws.whole("warm_up", scenario.warm_up or 0.0, NS)
        shared = shared_rows.build(
            scenario.shared, scenario.transport, draws, _of_run(scenario, draws), warm_up=warm_up
        )
        return Ensemble(shared, _table(draws))
    parameters = _parameters(scenario, draws)
    constants = np.zeros((len(numbers), 0))
    if isinstance(scenario.transport, Tcp) and (values := scenario.transport.all_constants()):
        columns = [draws.floats(f"transport.constants.{name}", value) for name, value in values.items()]
        constants = np.stack(columns, axis=1)
    if scenario.wireless is not None:
        warm_up = draws.whole("warm_up", scenario.warm_up or 0.0, NS)
        wireless = wifi_rows.build(
            scenario.wireless, scenario.transport, draws, parameters, constants=constants, warm_up=warm_up
        )
        return Ensemble(wireless, _table(draws))
    if scenario.adhoc is not None:
        adhoc = adhoc_rows.build(scenario.adhoc, draws, parameters, constants=constants)
        return Ensemble(adhoc, _table(draws))
    paths = [slots_of(route, f"paths.{i}", draws) for i, route in enumerate(scenario.paths)]
    if scenario.mobility is not None:
        paths[0][-1] = _moving(scenario.mobility, paths[0][-1], parameters, draws)
    hops, outages, losses = arrays(paths, draws)
    return Ensemble(Rows(parameters, constants, hops, outages, losses), _table(draws))


def _table(draws: Draws) -> pd.DataFrame:
    return pd.DataFrame(draws.drawn, index=pd.Index(draws.replications, name="replication"))


def concatenate(parts: Sequence[Any]) -> Any:
    """The rows of several ensembles one after the other, so that one launch runs them all."""
    if isinstance(parts[0], Rows):
        return _paths(parts)
    if isinstance(parts[0], SharedRows):
        return shared_rows.concatenate(parts)
    return (adhoc_rows if isinstance(parts[0], ManetRows) else wifi_rows).concatenate(parts)


def own(integers: Ints, launched: Any, rows: Any) -> Ints:
    """What came of some of the rows `launched`, as wide as if their ensemble's `rows` had run alone."""
    if isinstance(rows, ManetRows):
        return adhoc_outcomes.own(integers, rows)
    if isinstance(rows, SharedRows):
        return shared_outcomes.own(integers, launched, rows)
    return integers if isinstance(rows, Rows) else wifi_outcomes.own(integers, launched, rows)


def _paths(parts: Sequence[Rows]) -> Rows:
    n_hops = max(part.hops.shape[2] for part in parts)
    n_outages = max(part.outages.shape[3] for part in parts)
    n_constants = max(part.constants.shape[1] for part in parts)
    losses, row = np.unique(np.concatenate([part.losses for part in parts]), axis=0, return_inverse=True)
    row = row.reshape(-1)
    offsets = np.cumsum([0] + [len(part.losses) for part in parts])
    hops, outages, constants = [], [], []
    for part, offset in zip(parts, offsets, strict=False):
        wide = [(0, 0), (0, 0), (0, n_hops - part.hops.shape[2])]
        hop = part.hops.copy()
        for column in (Hop.LOSS, Hop.R_LOSS):
            hop[..., column] = row[hop[..., column] + offset]
        hops.append(np.pad(hop, [*wide, (0, 0)]))
        more = (0, n_outages - part.outages.shape[3])
        outages.append(np.pad(part.outages, [*wide, more, (0, 0)], constant_values=FOREVER))
        constants.append(np.pad(part.constants, [(0, 0), (0, n_constants - part.constants.shape[1])]))
    return Rows(
        np.concatenate([part.parameters for part in parts]),
        np.concatenate(constants), np.concatenate(hops), np.concatenate(outages), losses,
    )  # fmt: skip


def _of_run(scenario: Scenario, draws: Draws) -> Ints:
    """Parameters [n, len(P)] but those of the transport."""
    table = np.zeros((len(draws.replications), len(P)), np.int64)
    table[:, P.SEED] = scenario.seed
    table[:, P.SCENARIO] = draws.topology
    table[:, P.REPLICATION] = draws.replications
    table[:, P.END] = draws.whole("duration", scenario.duration, NS)
    table[:, P.SAMPLE] = draws.whole("sample_interval", scenario.sample_interval, NS)
    table[:, P.N_PATHS] = len(scenario.paths)
    return table


def _parameters(scenario: Scenario, draws: Draws) -> Ints:
    table = _of_run(scenario, draws)
    fill(table, scenario.transport, draws)
    return table


def row_bytes(scenario: Scenario) -> int:
    """Memory of the hops and outages of one row; those of a launch are as wide as the widest."""
    if scenario.wireless is not None:
        return wifi_rows.row_bytes(scenario.wireless)
    if scenario.adhoc is not None:
        return adhoc_rows.row_bytes(scenario.adhoc)
    if scenario.shared is not None:
        return shared_rows.row_bytes(scenario.shared)
    hops = [hop.each if isinstance(hop, Hops) else hop for route in scenario.paths for hop in route.hops]
    times = (scenario.mobility and scenario.mobility.times) or []
    outages = max(1, len(times), *(len(hop.outages) for hop in hops))
    most = max(sum(most_hops(hop) for hop in route.hops) for route in scenario.paths)
    return 8 * PATHS * most * (len(Hop) + 2 * outages)


def _moving(mobility: Mobility, radio: Slot, parameters: Ints, draws: Draws) -> Slot:
    """Fill in the parameters of a mobile host; the radio hop with the given times as its outages."""
    for column, values in mobility.parameters(draws, parameters[:, P.END]).items():
        parameters[:, column] = values
    if mobility.signalling_loss:
        parameters[:, P.SIGNAL_LOSS] = np.rint(radio.loss * 2.0**32)
    times = mobility.given_times(draws)
    return radio._replace(outages=np.stack([times, times], axis=2))


def features(scenario: Scenario, *, given: Mapping[str, Floats], rows: int) -> dict[str, Floats]:
    """What the first path looks like, float64[rows] each, for fields `given` as in `build_rows`.

    `n_hops`; `bottleneck_bps`, the lowest rate; `base_rtt_s`, from the sending of a lone data packet to
    the arrival of its acknowledgement; `path_loss`, the probability that a data packet is lost at
    random; `bdp_packets`, the bandwidth-delay product.  In a wireless network it is the way of the first
    flow, `path_loss` is that of a frame, and `bottleneck_bps` allows for spaces and acknowledgements; in an
    ad hoc network it is one hop, and `path_loss` is the residual one; in a shared network it is again that of
    the first flow.
    """
    draws = Draws(scenario.seed, np.zeros(rows, np.int64), np.zeros(rows, np.int64), given)
    if (network := scenario.wireless or scenario.adhoc or scenario.shared) is not None:
        topology = given.get("topology", np.full(rows, float(scenario.topology)))
        built = build_rows(scenario, replications=draws.replications, given={**given, "topology": topology})
        if isinstance(network, Adhoc):
            return adhoc_rows.features(network, draws, built.rows)
        if isinstance(network, Shared):
            return shared_rows.features(built.rows)
        return wifi_rows.features(network, draws, built.rows)
    slots = slots_of(scenario.paths[0], "paths.0", draws)
    parameters = _parameters(scenario, draws)
    packet = parameters[:, [P.DATA, P.CHUNK_HEADER, P.HEADER]].sum(axis=1)
    hops, byte_time, rtt_ns, survive = (np.zeros(rows), np.zeros(rows), np.zeros(rows), np.ones(rows))
    for slot in slots:
        data, ack = slot.columns[Hop.BYTE_TIME], slot.columns[Hop.R_BYTE_TIME]
        wire_ns = (packet * data + parameters[:, P.ACK] * ack) / 2**BYTE_TIME_BITS
        hops += slot.present
        byte_time = np.maximum(byte_time, np.where(slot.present, data, 0))
        rtt_ns += np.where(slot.present, wire_ns + slot.columns[Hop.DELAY] + slot.columns[Hop.R_DELAY], 0)
        survive *= np.where(slot.present, 1.0 - slot.loss, 1.0)
    if scenario.mobility is not None:
        rtt_ns += 2 * scenario.mobility.parameters(draws, parameters[:, P.END])[P.MAP_TO_AR]
    with np.errstate(divide="ignore"):
        bottleneck = 8e9 * 2**BYTE_TIME_BITS / byte_time
    return {
        "n_hops": hops, "bottleneck_bps": bottleneck, "base_rtt_s": rtt_ns / NS,
        "path_loss": 1.0 - survive, "bdp_packets": bottleneck * rtt_ns / NS / (8 * packet),
    }  # fmt: skip


FEATURES = ("n_hops", "bottleneck_bps", "base_rtt_s", "path_loss", "bdp_packets")
