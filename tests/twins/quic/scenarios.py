"""Random scenarios with QUIC in place of TCP."""

from typing import Any

import numpy as np
from numpy.random import Generator

from netcarlo.kernels.base.layout import FOREVER, PATHS, Rows
from netcarlo.kernels.base.parameters import MigrationP, P, QuicP, RowP, SctpP
from netcarlo.kernels.senders import ALONE
from netcarlo.kernels.shared.layout import Flow as SharedFlow
from netcarlo.kernels.shared.layout import SharedRows
from netcarlo.kernels.wireless.layout import Flow, Radio, WifiRows
from tests.twins.path.scenarios import (
    MS,
    SECOND,
    OneFlow,
    choose_cross_traffic,
    choose_hops,
    choose_outages,
    pick,
    select,
    tcp_rows,
)
from tests.twins.shared.scenarios import all_alone


def quic_parameters(rng: Generator, window: int) -> dict[str, int]:
    """Return columns of a connection with a receive window of about `window` packets."""
    return {
        "CHUNK_HEADER": pick(rng, 0, 35, 40), "WINDOW": pick(rng, window, 100, 400),
        "SACK_BLOCK": pick(rng, 0, 3, 3), "CONTROL": pick(rng, 0, 1),
        "INITIAL_PACKETS": pick(rng, 1, 2, 10, 10), "INITIAL_RTT": pick(rng, 333 * MS, 333 * MS, 10 * MS, 1),
        "SERVER_FLIGHT": pick(rng, 1, 3000, 3600, 4500), "ZERO_RTT": pick(rng, 0, 0, 1),
        "HYSTART": pick(rng, 0, 1),
        "PACING": pick(rng, 0, 0, 1024, 1280, 2048), "BURST": pick(rng, 1, 2, 10, 10),
        "ACK_EVERY": pick(rng, 1, 2, 2, 2, 10),
        "ACK_DELAY": pick(rng, MS, 25 * MS, 25 * MS, 200 * MS), "MAX_RTO": pick(rng, SECOND, 60 * SECOND),
    }  # fmt: skip


def as_quic(rows: OneFlow, *, seed: int) -> OneFlow:
    """Return the same paths, or ad hoc networks, with QUIC."""
    p = rows.parameters.copy()
    for k, row in enumerate(p):
        _fill(row, np.random.default_rng([seed, k, 9]))
    return rows._replace(parameters=p)


def migration_rows(count: int, *, seed: int) -> Rows:
    """Return `count` scenarios for QUIC over two paths, most of which are down at times."""
    rows = as_quic(tcp_rows(count, seed=seed), seed=seed)
    for k, p in enumerate(rows.parameters):
        rng = np.random.default_rng([seed, k, 10])
        p[SctpP.N_PATHS], p[MigrationP.MIGRATE_AFTER] = PATHS, pick(rng, 1, 1, 2, 3)
        end, on_lattice, row = int(p[RowP.END]), bool(p[RowP.DATA] == 960), select(rows, slice(k, k + 1))
        choose_hops(rng, row, 1, on_lattice)
        choose_cross_traffic(rng, row, 1, end, on_lattice)
        row.outages[0, 0] = FOREVER
        for path in range(PATHS):
            choose_outages(rng, row, path, end, on_lattice)
    return rows


def all_quic(count: int, *, seed: int) -> SharedRows:
    """Return `count` networks of shared links whose flows are QUIC and UDP."""
    rows = all_alone(count, seed=seed)
    for k, flows in enumerate(rows.flows):
        rng = np.random.default_rng([seed, k, 9])
        for i in np.flatnonzero(flows[:, SharedFlow.KIND] == ALONE):
            _fill(flows[i], rng)
            flows[i, SharedFlow.ECN] = 0
    return rows


def all_quic_over_wireless(rows: WifiRows, *, seed: int) -> WifiRows:
    """Return the same 802.11 networks with QUIC instead of TCP."""
    for k, p in enumerate(rows.parameters):
        rng = np.random.default_rng([seed, k, 9])
        _fill(p, rng)
        p[RowP.DATA], p[RowP.HEADER] = pick(rng, 100, 1000, 1165, 40), pick(rng, 0, 20, 28)
        flows = rows.network[k, : p[Radio.FLOWS] * len(Flow)].reshape(-1, len(Flow))  # FLOWS_AT is 0
        of_quic = flows[:, Flow.TCP] == 1
        flows[of_quic, Flow.SIZE] = p[RowP.DATA]
        flows[of_quic, Flow.HEADER] = p[RowP.CHUNK_HEADER] + p[RowP.HEADER]
    return rows


def _fill(row: Any, rng: Generator) -> None:
    for name, value in quic_parameters(rng, int(row[RowP.WINDOW])).items():
        row[QuicP[name] if name in QuicP.__members__ else P[name]] = value
