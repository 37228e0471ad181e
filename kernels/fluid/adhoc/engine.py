"""Fluid model of a mobile ad hoc network with one flow over a route that is discovered, changes and breaks.

One thread simulates one network. It reads the rows of the packet engine and writes the same outcomes.
Mobility, links and shortest paths are those of the packet engine.
"""

from typing import Any

from netcarlo.kernels.adhoc import topology
from netcarlo.kernels.adhoc.layout import OBSERVE_COMPLETION, Manet, ManetOut, ManetRows, NodeOut
from netcarlo.kernels.adhoc.size import SizeSlots
from netcarlo.kernels.adhoc.state import COUNTS, NODE_WORDS, NODES, Word, sets
from netcarlo.kernels.base.bind import slot
from netcarlo.kernels.base.inline import noinline
from netcarlo.kernels.base.layout import NEVER, STATUS_NO_START, STATUS_OK
from netcarlo.kernels.base.parameters import RowP
from netcarlo.kernels.fluid.adhoc import errors, route
from netcarlo.kernels.fluid.adhoc.state import AirFloat, AirWord, ExchangeFloat

source: Any = slot("source")
"""Module of the source: `sender` (TCP) or `datagrams` (UDP)."""

_PARAMETERS, _COLUMNS, _NODE_COLUMNS = int(Manet.COLUMNS), int(ManetOut.COLUMNS), int(NodeOut.COLUMNS)


def scratch_words(rows: ManetRows, size: SizeSlots) -> tuple[int, int]:
    """Return the words of int64 scratch and of float64 memory that any row of `rows` needs."""
    n = int(rows.parameters[:, Manet.NODES].max(initial=2))
    size.check(n)
    floats = AirFloat.EXCHANGES + 2 * (size.routes.MOST - 1) * ExchangeFloat.SIZE
    return NODES + n * (NODE_WORDS + size.sets.WORDS + 2 * n) + AirWord.SIZE, floats


@noinline
def simulate(
    parameters: Any, constants: Any, times: Any, places: Any, losses: Any,
    m: Any, g: Any, out: Any, trace: Any,
) -> Any:  # fmt: skip
    """Simulate one row; see `models` for the arguments."""
    for column in range(len(out)):
        out[column] = 0
    _lay_out(parameters, times, places, m)
    if m[Word.NO_START] != 0:
        out[ManetOut.STATUS] = STATUS_NO_START
        return 0
    s = m[m[Word.ASSOCIATION] :]
    for word in range(len(g)):
        g[word] = 0.0
    source.prepare(m, s, g)
    errors.prepare(m, s, g, losses)
    t, end = source.begin(m, s, g, times, places), m[RowP.END]
    while t < end and not source.is_done(m):
        t = source.advance(m, s, g, times, places, losses, t)
    if m[COUNTS + ManetOut.FINISHED] > end:
        m[COUNTS + ManetOut.FINISHED] = NEVER
    if m[COUNTS + ManetOut.COMPLETED] > end:
        m[COUNTS + ManetOut.COMPLETED] = NEVER
    if m[Manet.OBSERVE] == OBSERVE_COMPLETION and m[COUNTS + ManetOut.FINISHED] != NEVER:
        end = m[COUNTS + ManetOut.FINISHED]
    m[Word.ROUTE] = 0
    route.move_nodes(m, s, times, places, end)
    topology.integrate(m, end)
    for column in range(_COLUMNS):
        out[column] = m[COUNTS + column]
    source.report(m, s, out)
    for i in range(m[Manet.NODES]):  # the fluid has no airtime of radios
        out[_COLUMNS + i * _NODE_COLUMNS + NodeOut.TRANSMIT] = NEVER
    out[ManetOut.ELAPSED] = end
    out[ManetOut.STATUS] = STATUS_OK
    return 0


@noinline
def _lay_out(parameters: Any, times: Any, places: Any, m: Any) -> None:
    """Initialise the scratch of a row with its state at time 0."""
    n = parameters[Manet.NODES]
    for word in range(len(m)):
        m[word] = 0
    for word in range(_PARAMETERS):
        m[word] = parameters[word]
    m[Word.LEVELS] = NODES + n * NODE_WORDS
    m[Word.PAIRS] = m[Word.LEVELS] + sets.WORDS * n
    m[Word.ASSOCIATION] = m[Word.PAIRS] + 2 * n * n
    m[COUNTS + ManetOut.FIRST_RX] = NEVER
    m[COUNTS + ManetOut.LAST_RX] = NEVER
    m[COUNTS + ManetOut.COMPLETED] = NEVER
    m[COUNTS + ManetOut.FINISHED] = NEVER
    topology.begin(m, times, places)
