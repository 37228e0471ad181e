"""Application that sends messages with pauses: the fields of a scenario, and the columns of a kernel."""

from typing import Annotated, Self

import numpy as np
from pydantic import model_validator

from netcarlo.errors import InputError
from netcarlo.kernels.base.layout import MESSAGES_EVERY, MESSAGES_PAUSE, NS
from netcarlo.kernels.base.parameters import LinuxP
from netcarlo.numerics.arrays import Floats, Ints
from netcarlo.schema import units
from netcarlo.schema.draws import Draws
from netcarlo.schema.points import points
from netcarlo.schema.quantity import FileSize, Number, Quantity
from netcarlo.schema.record import Record

Wait = Annotated[Number, Quantity(units.TIME, 0.0, 3600.0)]


class Messages(Record):
    """Messages that an application sends one after the other over one connection.

    Each has `size` bytes; its last packet may be short. When a whole message is acknowledged, the application
    waits for `pause` and writes the next one. With `every` it writes one message per interval instead, or
    later if the previous one is not acknowledged by then. Random values are drawn for each message.
    """

    size: FileSize
    """Size of a message; its last packet may be short."""
    pause: Wait | None = None
    """Time from the last acknowledgement of a message to the next message; this or `every`."""
    every: Wait | None = None
    """Time from one message to the next, later if the previous one is not acknowledged by then; this or
    `pause`."""

    @model_validator(mode="after")
    def _come_somehow(self) -> Self:
        if (self.pause is None) == (self.every is None):
            found = "both missing" if self.pause is None else "both given"
            raise InputError(f"pause and every are {found}; write one of them, such as pause: 2 s")
        return self

    @property
    def wait(self) -> Number:
        """Value of `pause` or `every`, whichever is given [s]."""
        return self.every if self.pause is None else self.pause  # type: ignore[return-value]

    def fill(self, table: Ints, draws: Draws, *, at: int) -> Floats:
        """Fill in the columns of `P`. Returns the points [n, words] of size and wait, which are constants
        from word `at` on."""
        field, way = ("pause", MESSAGES_PAUSE) if self.every is None else ("every", MESSAGES_EVERY)
        sizes = points("transport.messages.size", self.size, 1.0, draws)
        waits = points(f"transport.messages.{field}", self.wait, NS, draws)
        table[:, LinuxP.MESSAGES] = way
        table[:, LinuxP.MESSAGE_SIZES] = at
        table[:, LinuxP.MESSAGE_WAITS] = at + sizes.shape[1]
        return np.concatenate([sizes, waits], axis=1)
