"""Which outcomes a scenario has: of those of `outcomes.MEANING`, the ones that its runs can measure.

No list says so.  The code that names what an engine wrote (or the formulae) is given rows of the scenario and
made-up numbers in every column that the engine fills for such rows: an outcome that never gets a value, or
none but 0, is not measured.  Whether it happens in a run is another question: that a finite transfer
completes, say.
"""

from collections.abc import Callable, Collection, Mapping
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from netcarlo.errors import InputError
from netcarlo.kernels.adhoc.layout import ManetOut, ManetRows, NodeOut
from netcarlo.kernels.base.layout import ENDLESS, NEVER, Out, P, Rows
from netcarlo.kernels.shared import layout as shared
from netcarlo.kernels.shared.layout import SharedRows
from netcarlo.kernels.wireless import layout as wifi
from netcarlo.kernels.wireless.layout import WifiRows
from netcarlo.networks.wireless import outcomes as wifi_outcomes
from netcarlo.scenario import Scenario
from netcarlo.schema.fields import flat
from netcarlo.schema.quantity import bounds
from netcarlo.simulation import fidelity
from netcarlo.simulation import outcomes as named
from netcarlo.simulation.ensemble import build_rows
from netcarlo.simulation.outcomes import MEANING, dimension

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

ROWS = 16
"""Replications whose rows are looked at: what is drawn may have a part in one network and not in another."""

EVERYWHERE = frozenset({"goodput_bps"})
"""What every scenario has."""

PATH_FLUID = (
    Out.SENT, Out.RETRANSMITTED, Out.RECEIVED, Out.DELIVERED, Out.IN_ORDER, Out.ACKED, Out.TIMEOUTS,
    Out.FAST_RETRANSMITS, Out.CWND_CUTS, Out.DROPS_QUEUE, Out.DROPS_RANDOM, Out.DROPS_OUTAGE, Out.COMPLETED,
    Out.CWND_SUM, Out.RTT_SUM, Out.SAMPLES, Out.RTT_SAMPLES,
)  # fmt: skip
"""What the fluid model of a path fills."""

NO_SHARED_FLUID = (shared.FlowOut.HANDSHAKES, shared.FlowOut.IN_FLIGHT)
"""What the fluid model of shared links does not know of a flow."""


def outcomes(scenario: Scenario, given: Mapping[str, Floats] | None = None) -> tuple[str, ...]:
    """The outcomes that runs of the scenario measure, in the order of `MEANING`.  Raises InputError.

    `given` holds the values of fields on some networks, as in `ensemble.build_rows`.
    """
    if scenario.fidelity != "packet":
        fidelity.check(scenario, scenario.fidelity)
    if not given:  # as many flows as there can be, so that each kind of them is there
        counts = [(name, value) for name, value in flat(scenario) if name.endswith(".count")]
        given = {name: np.full(ROWS, bounds(value)[1]) for name, value in counts}
    n = len(next(iter(given.values()), range(ROWS)))
    built = build_rows(scenario, replications=np.arange(n), given=given)
    if scenario.fidelity == "formula":
        frame = fidelity.approximate(scenario, built.rows, built.drawn).frame
    else:
        with np.errstate(all="ignore"):
            frame = named.outcomes(_filled(scenario, built.rows), built.rows, built.drawn).frame
    values = frame[list(MEANING)].to_numpy(np.float64)
    # What a formula says may be 0; what an engine does not fill is.
    seen = ~np.isnan(values) if scenario.fidelity == "formula" else np.nan_to_num(values) != 0
    return tuple(name for name, has in zip(MEANING, seen.any(axis=0), strict=True) if has)


def check(names: Collection[str], scenario: Scenario) -> None:
    """Raise InputError unless the scenario has all of these outcomes."""
    if set(names) <= EVERYWHERE:
        return
    have = outcomes(scenario)
    for name in names:
        if name not in have:
            refuse(name, scenario, have)


def refuse(name: str, scenario: Scenario, have: Collection[str]) -> NoReturn:
    """Raise InputError about an outcome that a scenario does not have, with those that it has instead."""
    network = next(kind for kind in ("paths", "wireless", "adhoc", "shared") if getattr(scenario, kind))
    words = [network, scenario.transport.protocol, f"fidelity {scenario.fidelity}"]
    raise InputError(f"'{name}' is not measured here ({', '.join(words)}); it has {_listed(have, like=name)}")


def _listed(names: Collection[str], *, like: str) -> str:
    """Outcomes in a line, those of the same dimension as `like` first."""
    alike = [name for name in MEANING if name in names and dimension(name) is dimension(like)]
    return ", ".join([*alike, *(name for name in MEANING if name in names and name not in alike)])


def _filled(scenario: Scenario, rows: Any) -> Ints:
    """Made-up numbers [n, ...], NEVER among them, where the engine writes some; NEVER or 0 elsewhere."""
    rng = np.random.default_rng(1)

    def some(*shape: int) -> Ints:
        return np.where(rng.random(shape) < 0.2, NEVER, rng.integers(1 << 20, 1 << 40, shape))

    make: dict[type, Callable[..., Ints]] = {
        Rows: _path, WifiRows: _wireless, ManetRows: _adhoc, SharedRows: _shared
    }  # fmt: skip
    return make[type(rows)](scenario, rows, some)


def _path(scenario: Scenario, rows: Rows, some: Callable[..., Ints]) -> Ints:
    p, out = rows.parameters, some(len(rows.parameters), len(Out))
    if scenario.fidelity == "fluid":
        empty = np.zeros(len(Out), np.int64)
        empty[[*named.TIMES.values(), Out.COMPLETED]] = NEVER
        unknown = [column for column in Out if column not in PATH_FLUID]
        out[:, unknown] = empty[unknown]
        out[:, Out.SENT] = out[:, named.ENDS].sum(axis=1)  # nothing is on its way at the end
    out[p[:, P.LIMIT] >= ENDLESS, Out.COMPLETED] = NEVER
    if scenario.mobility is None:
        out[:, Out.SILENCE] = 0
        for column in (Out.RESUME_TX, Out.RESUME_RX):
            out[np.isnan(named.first_outage_end_s(rows)), column] = NEVER
    return out


def _wireless(_: Scenario, rows: WifiRows, some: Callable[..., Ints]) -> Ints:
    n, f_max = len(rows.parameters), wifi_outcomes.most_flows(rows)
    flows, nodes = some(n, f_max, wifi.FlowOut.COLUMNS), some(n, rows.nodes.shape[1], wifi.NodeOut.COLUMNS)
    spec = rows.network[:, : f_max * len(wifi.Flow)].reshape(n, f_max, len(wifi.Flow))
    flows[spec[:, :, wifi.Flow.LIMIT] >= ENDLESS, wifi.FlowOut.COMPLETED] = NEVER
    for column in (wifi.FlowOut.ARRIVED, wifi.FlowOut.LOST):  # of UDP
        flows[spec[:, :, wifi.Flow.TCP] == 1, column] = 0
    return _joined(n, some(n, wifi.WifiOut.COLUMNS), flows, nodes)


def _adhoc(_: Scenario, rows: ManetRows, some: Callable[..., Ints]) -> Ints:
    n = len(rows.parameters)
    head = some(n, ManetOut.COLUMNS)
    endless = rows.parameters[:, P.LIMIT] >= ENDLESS
    for column in (ManetOut.COMPLETED, ManetOut.FINISHED):
        head[endless, column] = NEVER
    return _joined(n, head, some(n, rows.times.shape[1], NodeOut.COLUMNS))


def _shared(scenario: Scenario, rows: SharedRows, some: Callable[..., Ints]) -> Ints:
    n, out = len(rows.parameters), shared.FlowOut
    flows = some(n, rows.flows.shape[1], out.COLUMNS)
    links = some(n, rows.links.shape[1], shared.LinkOut.COLUMNS)
    flows[rows.flows[:, :, P.LIMIT] >= ENDLESS, out.COMPLETED] = NEVER
    for column in (out.SAMPLES, out.RTT_SAMPLES):
        flows[rows.flows[:, :, shared.Flow.KIND] == shared.UDP, column] = 0
    if scenario.fidelity == "fluid":
        flows[:, :, NO_SHARED_FLUID] = 0
    return _joined(n, some(n, shared.SharedOut.COLUMNS), flows, links)


def _joined(n: int, *parts: Ints) -> Ints:
    return np.concatenate([part.reshape(n, -1) for part in parts], axis=1)
