"""Small model for tests of compiling and launching (random sums, no network)."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from netcarlo.kernels.base.bind import bind
from netcarlo.kernels.base.layout import STATUS_OK, STATUS_RING_FULL, STATUS_TRACE_FULL, Hop, Out, Rows, Trace
from netcarlo.kernels.base.parameters import P, RowP
from netcarlo.kernels.base.philox import draw as draw_block

RING, SEED, REPLICATION, WINDOW = int(RowP.RING), int(RowP.SEED), int(RowP.REPLICATION), int(RowP.WINDOW)
STATUS, SENT, ACKED, LENGTH = int(Out.STATUS), int(Out.SENT), int(Out.ACKED), int(Out.SAMPLES)
EVENTS = 100_000  # recorded by row 1, more than a first trace holds


class Model(NamedTuple):
    name: str
    make: Callable[[Any], Any]
    scratch: Callable[[Rows], tuple[int, int]]
    outcomes: Callable[[Rows], int] = lambda rows: len(Out)
    dimensions: tuple[int, ...] = (2, 2, 4, 5, 2)
    window: Callable[[Any], Any] = lambda parameters: parameters[:, RowP.WINDOW]
    cost: Callable[[Any], Any] = lambda rows: rows.parameters[:, RowP.WINDOW].astype(float)
    compile_s: float = 1.0
    file: None = None
    noalias: bool = False
    hot_words: tuple[tuple[int, int], ...] = ()


def make(dev: Any) -> Any:
    draw = bind(draw_block, dev)

    def flow(parameters, constants, hops, outages, losses, scratch, memory, out, trace):  # type: ignore[no-untyped-def]
        total = np.int64(0)
        memory[0] = constants[0]
        for k in range(parameters[WINDOW]):
            word, _, _, _ = draw(parameters[SEED], 0, parameters[REPLICATION], 5, k)
            scratch[k] = np.int64(word)
            total += scratch[k] % 1000 + hops[1, 2, 3] + outages[0, 1, 0, 1] + np.int64(losses[0, 1])
            memory[0] = memory[0] * 0.5
            memory[0] = memory[0] + 1.0
        out[SENT] = total
        out[ACKED] = np.int64(memory[0] * 1e12)
        out[LENGTH] = 7
        # rows of three divisible numbers need a ring of four times the first capacity
        needed = 4096 if parameters[REPLICATION] % 3 == 0 else 0
        out[STATUS] = STATUS_OK if parameters[RING] >= needed else STATUS_RING_FULL
        if trace.shape[0] > 0:
            events = EVENTS if parameters[REPLICATION] == 1 else 3
            for i in range(events):
                if i >= trace.shape[0]:
                    out[STATUS] = STATUS_TRACE_FULL
                    return i
                trace[i, 0] = i
            return events
        return 0

    return dev(flow)


def scratch(rows: Rows) -> tuple[int, int]:
    return int(rows.parameters[:, WINDOW].max()), 1


TOY = Model("toy", make, scratch)


def rows(n: int, *, seed: int = 1, hops: int = 3) -> Rows:
    """Return `n` rows of distinct work, with significant numbers in every array."""
    parameters = np.zeros((n, len(P)), np.int64)
    parameters[:, RowP.SEED] = seed
    parameters[:, RowP.REPLICATION] = np.arange(n)
    parameters[:, RowP.WINDOW] = 100 + np.arange(n) % 500
    shape = (n, 2, hops, len(Hop))
    return Rows(
        parameters,
        np.arange(2.0 * n).reshape(n, 2),
        np.arange(np.prod(shape)).reshape(shape),
        np.arange(n * 2 * hops * 4).reshape(n, 2, hops, 2, 2),
        np.arange(64, dtype=np.uint32).reshape(2, 32),
    )


def plain(rows: Rows) -> np.ndarray[Any, Any]:
    """Return the outcomes by plain Python, with rings that never fill."""
    flow = make(lambda function: function)
    out = np.zeros((len(rows.parameters), len(Out)), np.int64)
    for i in range(len(out)):
        parameters = rows.parameters[i].copy()
        parameters[RING] = 4096
        words, floats = scratch(rows)
        flow(parameters, rows.constants[i], rows.hops[i], rows.outages[i], rows.losses,
             np.zeros(words, np.int64), np.zeros(floats), out[i], np.zeros((0, len(Trace))))  # fmt: skip
    return out
