"""Kernel parameters of a transport: its columns of `P` for the rows of an ensemble."""

from typing import Any

import numpy as np

from netcarlo.kernels.base.layout import NS
from netcarlo.kernels.base.parameters import (
    LinuxP,
    MptcpP,
    QuicP,
    ReliableP,
    Rfc9260P,
    RowP,
    SctpP,
    TcpP,
    UdpP,
)
from netcarlo.kernels.udp.source import EXPONENTIAL
from netcarlo.numerics.arrays import Ints
from netcarlo.schema.draws import Draws
from netcarlo.transport import buffers
from netcarlo.transport.congestion import COUPLED
from netcarlo.transport.linux import SLOW_STARTS, Linux
from netcarlo.transport.mptcp import Mptcp
from netcarlo.transport.quic import CONTROLS, Quic
from netcarlo.transport.sctp import Sctp


def fill(
    table: Ints, transport: Any, draws: Draws, *, at: str = "transport", override: Any = None,
    name: str = "transport",
) -> None:  # fmt: skip
    """Fill in the parameters [n, len(P)] of a transport, or of the datagrams of a flow.

    Its record is the field `at` of a scenario. Fields given in the record `override` (the field `name`)
    replace those of the transport; the clock phase is drawn for `name`.
    """

    def where(field: str) -> tuple[str, Any]:
        given = getattr(override, field, None) is not None
        return (name, override) if given else (at, transport)

    def value(field: str, factor: float = 1) -> Ints:
        owner, record = where(field)
        return draws.whole(f"{owner}.{field}", getattr(record, field), factor)

    for field, (column, factor) in transport.fills.items():
        table[:, column] = value(field, factor)
    finite = override is not None and (override.bytes is not None or override.packets is not None)
    limited = (name, override) if finite else (at, transport)
    table[:, RowP.LIMIT] = draws.limit(*limited, table[:, RowP.DATA])
    table[:, RowP.SHORT] = draws.short(*limited, table[:, RowP.DATA])
    if transport.datagrams:
        interval = 8e9 * table[:, RowP.DATA] / draws.floats(f"{at}.rate", transport.rate)
        table[:, UdpP.INTERVAL] = np.maximum(np.rint(interval), 1)
        most = np.rint(table[:, UdpP.INTERVAL] * draws.floats(f"{at}.jitter", transport.jitter))
        table[:, UdpP.SPREAD] = 2 * most  # width of the distribution of gaps [ns]
        if transport.gaps == "exponential":
            table[:, UdpP.SPREAD] = EXPONENTIAL
        table[:, UdpP.STOP] = np.iinfo(np.int64).max >> 1
        if transport.stop is not None:
            table[:, UdpP.STOP] = draws.whole(f"{at}.stop", transport.stop, NS)
        return
    if isinstance(transport, Sctp):
        table[:, SctpP.RESPONSE_ALTERNATE] = 1
        table[:, RowP.WINDOW] = table[:, SctpP.RWND] // (table[:, RowP.DATA] + table[:, RowP.CHUNK_HEADER])
        if transport.today:
            table[:, Rfc9260P.RFC9260] = 1
            table[:, Rfc9260P.ABC_LIMIT] = 1 if transport.abc_limit is None else value("abc_limit")
            table[:, Rfc9260P.CMT] = bool(transport.cmt)
            table[:, Rfc9260P.FREE_T3] = transport.t3_restart is False
        if transport.pf_max_retrans is not None:
            table[:, Rfc9260P.PF_ERRORS] = value("pf_max_retrans") + 1
        return
    if isinstance(transport, Quic):
        table[:, QuicP.CONTROL] = CONTROLS[transport.congestion_control]
        table[:, QuicP.HYSTART] = transport.slow_start == "hystart++"
        return
    receive = None if where("window")[1] is override else transport.receive_buffer
    buffers.fill(table, send=transport.send_buffer, receive=receive, draws=draws)
    table[:, ReliableP.INITIAL_SSTHRESH] = table[:, RowP.WINDOW]
    if transport.initial_ssthresh is not None:
        table[:, ReliableP.INITIAL_SSTHRESH] = value("initial_ssthresh")
    if isinstance(transport, Mptcp):
        table[:, MptcpP.COUPLING] = COUPLED.get(transport.congestion_control, 0)
    if isinstance(transport, Linux) and transport.slow_start is not None:
        table[:, LinuxP.SLOW_START] = SLOW_STARTS[transport.slow_start]
    if isinstance(transport, Linux) and transport.messages is not None:
        table[:, LinuxP.IDLE_RESTART] = transport.idle_restart
    if transport.clock_phase is None:
        span = table[:, TcpP.TICK] * transport.phases
        table[:, TcpP.CLOCK_PHASE] = span * draws.uniform(f"{name}.clock_phase")
    else:
        table[:, TcpP.CLOCK_PHASE] = value("clock_phase", NS)
