"""From a scenario to the rows a kernel reads: one row of numbers per replication.

Random quantities are drawn per field name and replication number, so that a row depends neither
on the chunk it is in nor on the fields drawn beside it.
"""

import re
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from netcarlo.distributions import Distribution
from netcarlo.kernels.layout import BYTE_TIME_BITS, ENDLESS, FOREVER, PATHS, STREAM_HOST, Hop, P, Rows
from netcarlo.kernels.loss import thresholds
from netcarlo.kernels.philox import uniforms
from netcarlo.quantity import Number
from netcarlo.scenario import Hop as HopSpec
from netcarlo.scenario import Hops, Outage, Route, Scenario, Sctp
from netcarlo.transport import NS, Tcp

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class Ensemble(NamedTuple):
    """Replications of a scenario, ready to run."""

    rows: Rows
    drawn: pd.DataFrame
    """The random quantities in SI units, a column per dotted field name, indexed by replication."""


@dataclass
class Draws:
    """Values of fields over the rows [n]; remembers those that are random.

    `given` fields have the values given; `paths.0.hops.0.each.rate` is that of all of its hops.
    """

    seed: int
    replications: Ints
    topology: Ints
    given: Mapping[str, Floats] = field(default_factory=dict)
    drawn: dict[str, Floats] = field(default_factory=dict)

    def floats(self, name: str, value: Number | None) -> Floats:
        """The values of a field in SI units, float64[n]."""
        if self.given:
            known = self.given.get(name)
            if known is None:
                known = self.given.get(_EACH.sub(".each", name))
            if known is not None:
                return known
        if not isinstance(value, Distribution):
            return np.full(len(self.replications), value)
        self.drawn[name] = value.quantile(self.uniform(name))
        return self.drawn[name]

    def uniform(self, name: str) -> Floats:
        """The random numbers of a field, float64[n] in [0, 1)."""
        stream = STREAM_HOST | (zlib.crc32(name.encode()) >> 1)
        return uniforms(self.seed, self.topology, self.replications, stream)

    def whole(self, name: str, value: Number | None, factor: float = 1) -> Ints:
        """The values of a field times `factor`, rounded, int64[n]."""
        values = np.rint(self.floats(name, value) * factor)
        if factor == 1 and name in self.drawn:
            self.drawn[name] = values
        return values.astype(np.int64)


def build(scenario: Scenario, *, first: int = 0, replications: int | None = None) -> Ensemble:
    """Rows of `replications` (the scenario's unless given), the first of which has the number `first`."""
    count = scenario.replications if replications is None else replications
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
    parameters = _parameters(scenario, draws)
    constants = np.zeros((len(numbers), 0))
    if isinstance(scenario.transport, Tcp) and (values := scenario.transport.all_constants()):
        columns = [draws.floats(f"transport.constants.{name}", value) for name, value in values.items()]
        constants = np.stack(columns, axis=1)
    paths = [_path(route, f"paths.{i}", draws) for i, route in enumerate(scenario.paths)]
    hops, outages, losses = _arrays(paths, len(numbers))
    drawn = pd.DataFrame(draws.drawn, index=pd.Index(numbers, name="replication"))
    return Ensemble(Rows(parameters, constants, hops, outages, losses), drawn)


def concatenate(parts: Sequence[Rows]) -> Rows:
    """The rows of several ensembles one after the other, so that one launch runs them all."""
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


def _parameters(scenario: Scenario, draws: Draws) -> Ints:
    transport = scenario.transport
    table = np.zeros((len(draws.replications), len(P)), np.int64)
    table[:, P.SEED] = scenario.seed
    table[:, P.SCENARIO] = draws.topology
    table[:, P.REPLICATION] = draws.replications
    table[:, P.END] = draws.whole("duration", scenario.duration, NS)
    table[:, P.SAMPLE] = draws.whole("sample_interval", scenario.sample_interval, NS)
    table[:, P.N_PATHS] = len(scenario.paths)
    for name, (column, factor) in transport.columns.items():
        table[:, column] = draws.whole(f"transport.{name}", getattr(transport, name), factor)
    table[:, P.LIMIT] = ENDLESS
    if transport.packets is not None:
        table[:, P.LIMIT] = draws.whole("transport.packets", transport.packets)
    elif transport.bytes is not None:
        table[:, P.LIMIT] = -(-draws.whole("transport.bytes", transport.bytes) // table[:, P.DATA])
    if isinstance(transport, Sctp):
        table[:, P.RESPONSE_ALTERNATE] = 1
        table[:, P.WINDOW] = table[:, P.RWND] // (table[:, P.DATA] + table[:, P.CHUNK_HEADER])
        return table
    table[:, P.INITIAL_SSTHRESH] = table[:, P.WINDOW]
    if transport.initial_ssthresh is not None:
        table[:, P.INITIAL_SSTHRESH] = draws.whole("transport.initial_ssthresh", transport.initial_ssthresh)
    if transport.clock_phase is None:
        table[:, P.CLOCK_PHASE] = table[:, P.TICK] * draws.uniform("transport.clock_phase")
    else:
        table[:, P.CLOCK_PHASE] = draws.whole("transport.clock_phase", transport.clock_phase, NS)
    return table


def features(scenario: Scenario, *, given: Mapping[str, Floats], rows: int) -> dict[str, Floats]:
    """What the first path looks like, float64[rows] each, for fields `given` as in `build_rows`.

    `n_hops`; `bottleneck_bps`, the lowest rate; `base_rtt_s`, from the sending of a lone data packet to
    the arrival of its acknowledgement; `path_loss`, the probability that a data packet is lost at
    random; `bdp_packets`, the bandwidth-delay product.
    """
    draws = Draws(scenario.seed, np.zeros(rows, np.int64), np.zeros(rows, np.int64), given)
    slots = _path(scenario.paths[0], "paths.0", draws)
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
    with np.errstate(divide="ignore"):
        bottleneck = 8e9 * 2**BYTE_TIME_BITS / byte_time
    return {
        "n_hops": hops, "bottleneck_bps": bottleneck, "base_rtt_s": rtt_ns / NS,
        "path_loss": 1.0 - survive, "bdp_packets": bottleneck * rtt_ns / NS / (8 * packet),
    }  # fmt: skip


FEATURES = ("n_hops", "bottleneck_bps", "base_rtt_s", "path_loss", "bdp_packets")

_EACH = re.compile(r"\.each\.\d+")


class _Slot(NamedTuple):
    """One hop of the YAML file over the replications; `present` [n] says which of them have it."""

    present: NDArray[np.bool_]
    columns: dict[Hop, Ints]
    loss: Floats
    ack_loss: Floats
    outages: Ints  # [n, K, 2]


def _path(route: Route, name: str, draws: Draws) -> list[_Slot]:
    slots = []
    for i, hop in enumerate(route.hops):
        at = f"{name}.hops.{i}"
        if isinstance(hop, Hops):
            count = draws.whole(f"{at}.count", hop.count)
            for k in range(int(count.max(initial=0))):
                slots.append(_slot(hop.each, f"{at}.each.{k}", draws, count > k))
        else:
            slots.append(_slot(hop, at, draws, np.ones(len(draws.replications), bool)))
    return slots


def _slot(hop: HopSpec, name: str, draws: Draws, present: NDArray[np.bool_]) -> _Slot:
    columns = {}
    for prefix, spec, byte_time, delay, queue in (
        ("", hop, Hop.BYTE_TIME, Hop.DELAY, Hop.QUEUE),
        (".reverse", hop.reverse, Hop.R_BYTE_TIME, Hop.R_DELAY, Hop.R_QUEUE),
    ):
        at = name + prefix
        if spec.rate is not None:
            rate = draws.floats(f"{at}.rate", spec.rate)
            columns[byte_time] = np.rint(8e9 * 2**BYTE_TIME_BITS / rate).astype(np.int64)
        if spec.delay is not None:
            columns[delay] = draws.whole(f"{at}.delay", spec.delay, NS)
        if spec.queue is not None:
            limit = np.rint(draws.floats(f"{at}.queue", spec.queue))
            columns[queue] = np.where(np.isinf(limit), 0, limit).astype(np.int64)
    for back, forth in (
        (Hop.R_BYTE_TIME, Hop.BYTE_TIME), (Hop.R_DELAY, Hop.DELAY), (Hop.R_QUEUE, Hop.QUEUE)
    ):  # fmt: skip
        columns.setdefault(back, columns[forth])
    loss = draws.floats(f"{name}.loss", hop.loss)
    ack_loss = draws.floats(f"{name}.ack_loss", hop.ack_loss)
    return _Slot(present, columns, loss, ack_loss, _outages(hop.outages, name, draws))


def _outages(outages: list[Outage], name: str, draws: Draws) -> Ints:
    """Start and end of the outages [n, K, 2] in order of time; overlapping ones are one, empty ones none."""
    n = len(draws.replications)
    table = np.full((n, len(outages), 2), FOREVER, np.int64)
    for k, outage in enumerate(outages):
        start = draws.whole(f"{name}.outages.{k}.start", outage.start, NS)
        length = draws.whole(f"{name}.outages.{k}.duration", outage.duration, NS)
        table[:, k, 0] = np.where(length > 0, start, FOREVER)
        table[:, k, 1] = np.where(length > 0, start + length, FOREVER)
    if len(outages) > 1:
        table = _by_start(table)
        for k in range(1, len(outages)):
            joined = table[:, k, 0] <= table[:, k - 1, 1]
            table[joined, k, 0] = table[joined, k - 1, 0]
            table[joined, k, 1] = np.maximum(table[joined, k, 1], table[joined, k - 1, 1])
            table[joined, k - 1] = FOREVER
        table = _by_start(table)
    return table


def _by_start(table: Ints) -> Ints:
    order = np.argsort(table[:, :, 0], axis=1, kind="stable")
    return np.take_along_axis(table, order[:, :, None], axis=1)


def _arrays(paths: list[list[_Slot]], n: int) -> tuple[Ints, Ints, NDArray[np.uint32]]:
    """Hops [n, PATHS, H, len(Hop)], outages [n, PATHS, H, K, 2] and the loss table of the paths.

    Absent hops leave no gap: the hops of a replication stand first on its path.
    """
    slots = [slot for path in paths for slot in path]
    probabilities, row = np.unique([[s.loss, s.ack_loss] for s in slots], return_inverse=True)
    row = row.reshape(len(slots), 2, n)
    n_hops = max(len(path) for path in paths)
    n_outages = max(1, *(slot.outages.shape[1] for slot in slots))
    hops = np.zeros((n, PATHS, n_hops, len(Hop)), np.int64)
    outages = np.full((n, PATHS, n_hops, n_outages, 2), FOREVER, np.int64)
    index = iter(range(len(slots)))
    for number, path in enumerate(paths):
        position = np.zeros(n, np.int64)
        for slot in path:
            k = next(index)
            who = np.flatnonzero(slot.present)
            at = position[who]
            hops[who, number, at, Hop.PRESENT] = 1
            for column, values in slot.columns.items():
                hops[who, number, at, column] = values[who]
            hops[who, number, at, Hop.LOSS] = row[k, 0, who]
            hops[who, number, at, Hop.R_LOSS] = row[k, 1, who]
            outages[who, number, at, : slot.outages.shape[1]] = slot.outages[who]
            position[who] += 1
    return hops, outages, thresholds(probabilities)
