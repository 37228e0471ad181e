"""Socket buffers in bytes, as an operating system counts them, and the packets that they amount to.

Source: the Linux 2.6 kernel.  A buffer's limit counts memory, a segment's share of which is more than its
payload; a writer who has filled it sleeps until a third is free; a part of what the receiver has is kept
back for overhead and not advertised.
"""

import numpy as np

from netcarlo.kernels.base.layout import P
from netcarlo.numerics.arrays import Floats, Ints
from netcarlo.schema.draws import Draws
from netcarlo.schema.quantity import Payload, Probability, Transfer, bounds
from netcarlo.schema.record import Record


class Buffer(Record):
    """`size` is the limit as stored; with `doubled` what an application asks for: Linux stores twice that.

    What is asked for counts up to `most` (`wmem_max`, `rmem_max`).
    """

    size: Transfer
    """The limit in bytes, as it is stored; with `doubled` what an application asks for."""
    doubled: bool = False
    """Linux stores twice what an application asks for."""
    most: Transfer | None = None
    """What an application asks for counts up to here (`wmem_max`, `rmem_max`); no limit unless given."""

    def stored(self, name: str, draws: Draws) -> Floats:
        """The limit of the buffer in the field `name`, float64[n] [byte]."""
        size = draws.floats(f"{name}.size", self.size)
        if self.most is not None:
            size = np.minimum(size, draws.floats(f"{name}.most", self.most))
        return 2.0 * size if self.doubled else size


class SendBuffer(Buffer):
    """A segment takes `charge` of it, its payload unless given, until it is acknowledged.

    The writer adds segments while the limit is not reached, so the last may exceed it, then sleeps until
    no more than the part `wake` is taken.
    """

    charge: Payload | None = None
    """What a segment takes of it until it is acknowledged; its payload unless given."""
    wake: Probability = 2.0 / 3.0
    """The writer sleeps when the buffer is full, until no more than this part is taken."""


class ReceiveBuffer(Buffer):
    """The receiver's window is the part `share` of it; Linux's `tcp_adv_win_scale` n keeps 2**-n back."""

    share: Probability = 0.75
    """The part of the buffer that makes the window; `tcp_adv_win_scale` n keeps 2<sup>-n</sup> back."""

    def largest_window(self) -> float:
        """Upper limit of the window [byte]."""
        size = bounds(self.size)[1]
        if self.most is not None:
            size = min(size, bounds(self.most)[1])
        return size * (2 if self.doubled else 1) * bounds(self.share)[1]


def fill(table: Ints, *, send: SendBuffer | None, receive: ReceiveBuffer | None, draws: Draws) -> None:
    """Turn buffers of `transport` into columns of parameters [n, len(P)] that have DATA and WINDOW.

    The window is at most the send buffer, which bounds the packets in flight, too.
    """
    if receive is not None:
        share = draws.floats("transport.receive_buffer.share", receive.share)
        packets = receive.stored("transport.receive_buffer", draws) * share / table[:, P.DATA]
        table[:, P.WINDOW] = np.maximum(np.floor(packets + 1e-9), 1)
    if send is not None:
        name = "transport.send_buffer"
        charge = draws.either(f"{name}.charge", send.charge, table[:, P.DATA].astype(float))
        packets = send.stored(name, draws) / charge
        table[:, P.SEND_BUFFER] = np.ceil(packets - 1e-9)
        table[:, P.SEND_WAKE] = np.floor(packets * draws.floats(f"{name}.wake", send.wake) + 1e-9)
        table[:, P.WINDOW] = np.minimum(table[:, P.WINDOW], table[:, P.SEND_BUFFER])
