"""What a transport is to a kernel: its columns of `P` over the rows of an ensemble."""

from typing import Any

import numpy as np

from netcarlo.kernels.base.layout import NS, P
from netcarlo.numerics.arrays import Ints
from netcarlo.schema.draws import Draws
from netcarlo.transport import buffers
from netcarlo.transport.tcp import SLOW_STARTS, Linux, Sctp
from netcarlo.transport.udp import Datagrams, Udp


def fill(table: Ints, transport: Any, draws: Draws, *, override: Any = None, name: str = "transport") -> None:
    """Fill in what a transport says of parameters [n, len(P)].

    Fields that the record `override` (the field `name` of a scenario) gives replace those of the transport;
    the phase of the clock is drawn for `name`.
    """

    def where(field: str) -> tuple[str, Any]:
        given = getattr(override, field, None) is not None
        return (name, override) if given else ("transport", transport)

    def value(field: str, factor: float = 1) -> Ints:
        at, record = where(field)
        return draws.whole(f"{at}.{field}", getattr(record, field), factor)

    for field, (column, factor) in transport.fills.items():
        table[:, column] = value(field, factor)
    finite = override is not None and (override.bytes is not None or override.packets is not None)
    limited = (name, override) if finite else ("transport", transport)
    table[:, P.LIMIT] = draws.limit(*limited, table[:, P.DATA])
    table[:, P.SHORT] = draws.short(*limited, table[:, P.DATA])
    if isinstance(transport, Udp):
        interval = 8e9 * table[:, P.DATA] / draws.floats("transport.rate", transport.rate)
        table[:, P.INTERVAL] = np.maximum(np.rint(interval), 1)
        table[:, P.SPREAD] = spread(transport, "transport", draws, table[:, P.INTERVAL])
        table[:, P.STOP] = np.iinfo(np.int64).max >> 1
        if transport.stop is not None:
            table[:, P.STOP] = draws.whole("transport.stop", transport.stop, NS)
        return
    if isinstance(transport, Sctp):
        table[:, P.RESPONSE_ALTERNATE] = 1
        table[:, P.WINDOW] = table[:, P.RWND] // (table[:, P.DATA] + table[:, P.CHUNK_HEADER])
        return
    receive = None if where("window")[1] is override else transport.receive_buffer
    buffers.fill(table, send=transport.send_buffer, receive=receive, draws=draws)
    table[:, P.INITIAL_SSTHRESH] = table[:, P.WINDOW]
    if transport.initial_ssthresh is not None:
        table[:, P.INITIAL_SSTHRESH] = value("initial_ssthresh")
    if isinstance(transport, Linux) and transport.slow_start is not None:
        table[:, P.SLOW_START] = SLOW_STARTS[transport.slow_start]
    if isinstance(transport, Linux) and transport.messages is not None:
        table[:, P.IDLE_RESTART] = transport.idle_restart
    if transport.clock_phase is None:
        span = table[:, P.TICK] * transport.phases
        table[:, P.CLOCK_PHASE] = span * draws.uniform(f"{name}.clock_phase")
    else:
        table[:, P.CLOCK_PHASE] = value("clock_phase", NS)


def spread(udp: Datagrams, name: str, draws: Draws, interval: Any) -> Any:
    """Widths [n] of the distributions [ns] of the gaps between datagrams with these mean gaps."""
    return 2 * np.rint(interval * draws.floats(f"{name}.jitter", udp.jitter))
