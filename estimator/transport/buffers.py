"""Socket buffers in bytes, as Linux counts them, and the numbers of packets that they hold.

Source: the Linux 2.6 kernel. The limit of a buffer counts memory, of which a segment takes more than its
payload. A writer that has filled the send buffer sleeps until a third is free. A part of the receive buffer
is reserved for overhead and not advertised.
"""

import numpy as np

from netcarlo.kernels.base.parameters import RowP, TcpP
from netcarlo.numerics.arrays import Floats, Ints
from netcarlo.schema.draws import Draws
from netcarlo.schema.quantity import Payload, Probability, Transfer, bounds
from netcarlo.schema.record import Record


class Buffer(Record):
    """Socket buffer. With `doubled`, `size` is the size requested by an application, and Linux stores twice
    that.

    A request is limited to `most` (`wmem_max`, `rmem_max`).
    """

    size: Transfer
    """Size of the buffer as stored; with `doubled`, the size that the application requests."""
    doubled: bool = False
    """True if `size` is a request of an application, of which Linux stores twice the value."""
    most: Transfer | None = None
    """Maximum request of an application (`wmem_max`, `rmem_max`). Default: no limit."""

    def stored(self, name: str, draws: Draws) -> Floats:
        """Return the size of the buffer in the field `name`, float64[n] [byte]."""
        size = draws.floats(f"{name}.size", self.size)
        if self.most is not None:
            size = np.minimum(size, draws.floats(f"{name}.most", self.most))
        return 2.0 * size if self.doubled else size


class SendBuffer(Buffer):
    """Send buffer. Each segment occupies `charge` bytes (default: its payload) until it is acknowledged.

    The writer adds segments while the buffer is not full, so that the last one may exceed its size. It then
    sleeps until at most the share `wake` is occupied.
    """

    charge: Payload | None = None
    """Memory that a segment occupies until it is acknowledged. Default: its payload."""
    wake: Probability = 2.0 / 3.0
    """Share of the buffer below which a writer that sleeps on a full buffer wakes up."""


class ReceiveBuffer(Buffer):
    """Receive buffer. The receive window is the share `share` of it."""

    share: Probability = 0.75
    """Share of the buffer that is advertised as window; `tcp_adv_win_scale` n reserves 2<sup>-n</sup> of
    it."""

    def largest_window(self) -> float:
        """Return the maximum window [byte]."""
        size = bounds(self.size)[1]
        if self.most is not None:
            size = min(size, bounds(self.most)[1])
        return size * (2 if self.doubled else 1) * bounds(self.share)[1]


def fill(table: Ints, *, send: SendBuffer | None, receive: ReceiveBuffer | None, draws: Draws) -> None:
    """Fill in the columns of buffers in parameters [n, len(P)], in which DATA and WINDOW are set.

    The window is limited to the send buffer, which also limits the packets in flight.
    """
    if receive is not None:
        share = draws.floats("transport.receive_buffer.share", receive.share)
        packets = receive.stored("transport.receive_buffer", draws) * share / table[:, RowP.DATA]
        table[:, RowP.WINDOW] = np.maximum(np.floor(packets + 1e-9), 1)
    if send is not None:
        name = "transport.send_buffer"
        charge = draws.either(f"{name}.charge", send.charge, table[:, RowP.DATA].astype(float))
        packets = send.stored(name, draws) / charge
        table[:, TcpP.SEND_BUFFER] = np.ceil(packets - 1e-9)
        table[:, TcpP.SEND_WAKE] = np.floor(packets * draws.floats(f"{name}.wake", send.wake) + 1e-9)
        table[:, RowP.WINDOW] = np.minimum(table[:, RowP.WINDOW], table[:, TcpP.SEND_BUFFER])
