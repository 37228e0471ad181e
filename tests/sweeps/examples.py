"""Small sweeps that use every part of the grammar."""

import json
from typing import Any

import numpy as np
import pyarrow as pa

from netcarlo.simulation.provenance import model_version
from netcarlo.sweeps.execution.chunk import Chunk, run_chunk
from netcarlo.sweeps.space import identity
from netcarlo.sweeps.space.file import make_sweep
from netcarlo.sweeps.space.space import Sweep

HOP: dict[str, Any] = {"rate": "2 Mbit/s", "delay": "10 ms", "queue": 20, "loss": "0.5 %"}

GRID: dict[str, Any] = {
    "name": "grid",
    "scenario": {
        "duration": "3 s",
        "replications": 5,
        "transport": {"protocol": "newreno", "window": 32},
        "hops": [HOP, {**HOP, "outages": [{"start": "1 s", "duration": "0.1 s"}]}],
    },
    "axes": {
        "setup": {
            "cases": {
                "TCP": {"transport.protocol": "reno"},
                "SCTP": {"transport": {"protocol": "sctp"}},
            }
        },
        "hops.0.loss": [0, "1 %"],
        "both": {"field": "paths.*.hops.*.rate", "log": ["1 Mbit/s", "4 Mbit/s"], "points": 3},
        "cut": {"zip": {"hops.1.outages.0.duration": ["0 s", "0.5 s"], "hops.1.delay": ["5 ms", "50 ms"]}},
        "share": [0.5, 2],
    },
    "derive": {"hops.0.queue": "max(2, share * bdp_packets)"},
    "outcomes": ["goodput_bps", "restart_s"],
    "goals": {"fast": "goodput_bps >= 1 Mbit/s"},
}

DRAWN: dict[str, Any] = {
    "name": "drawn",
    "scenario": {
        "duration": "3 s",
        "replications": 4,
        "transport": {"protocol": "newreno", "window": {"integers": [8, 64]}},
        "hops": [
            {
                "count": {"integers": [1, 3]},
                "each": {
                    "rate": {"log_uniform": ["1 Mbit/s", "8 Mbit/s"]},
                    "delay": {"uniform": ["1 ms", "20 ms"]},
                    "queue": {"integers": [5, 40]},
                    "loss": {"choice": [0, "1 %"]},
                },
            },
            {"rate": "10 Mbit/s", "delay": {"uniform": ["1 ms", "9 ms"]}},
        ],
    },
    "axes": {"protocol": {"field": "transport.protocol", "values": ["newreno", "vegas", "sack"]}},
    "draw": {"count": 8, "blocks": 2},
    "outcomes": ["goodput_bps", "timeouts"],
}


def sweep(data: dict[str, Any], **changes: Any) -> Sweep:
    """Return a sweep of the data above with changed keys."""
    return make_sweep({**data, **changes})


def simulated(sweep: Sweep, cells: Any = None) -> Chunk:
    """Return the results of some cells of a sweep, or of all."""
    chosen = np.arange(sweep.n_cells) if cells is None else np.asarray(cells)
    return run_chunk(json.dumps(sweep.definition), chosen, version=model_version())


def same(a: pa.Table, b: pa.Table) -> bool:
    """Return True if two tables are equal to the bit, with NaN equal to itself."""
    if a.schema != b.schema:
        return False
    pairs = ((a.column(name).to_numpy(), b.column(name).to_numpy()) for name in a.column_names)
    return all(
        np.array_equal(x, y, equal_nan=True) if x.dtype.kind == "f" else np.array_equal(x, y)
        for x, y in pairs
    )


def all_keys(sweep: Sweep, cells: Any = None) -> Any:
    """Return the keys of some cells of a sweep, or of all."""
    chosen = np.arange(sweep.n_cells) if cells is None else np.asarray(cells)
    found = np.empty(len(chosen), object)
    for batch in sweep.batches(chosen):
        found[batch.at] = identity.keys(sweep, batch)
    return found
