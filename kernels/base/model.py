"""Model: the simulation of one row of a network, to be compiled for a target."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from netcarlo.kernels.base import compile_time
from netcarlo.kernels.base.address import Address
from netcarlo.kernels.base.bind import Step
from netcarlo.kernels.base.layout import Failover, Out
from netcarlo.kernels.base.parameters import Block, RowP, SctpP


def window_of(parameters: Any) -> Any:
    """Return the windows of rows with these parameters [packet]."""
    return parameters[:, RowP.WINDOW]


def end_of(rows: Any) -> Any:
    """Return how long each row is simulated [ns], as float64[n]."""
    return rows.parameters[:, RowP.END].astype(float)


def failovers(rows: Any) -> int:
    """Return the columns of outcomes of SCTP over two paths; 0 where all rows have one."""
    return Failover.COLUMNS if (rows.parameters[:, SctpP.N_PATHS] > 1).any() else 0


@dataclass(frozen=True, kw_only=True)
class Model:
    """Simulation of one row, to be compiled for a target.

    `make(step)` returns `simulate(parameters, constants, first, second, losses, scratch, memory, out, trace)
    -> int`, compiled by `step` (`base.bind`). The first five arguments are one row's views of the arrays of
    `base.rows`. `scratch` (int64) and `memory` (float64) have the lengths of `scratch(rows)`. `out` is int64
    with the length of `outcomes(rows)`, `trace` is float64[T, len(Trace)], with T = 0 for no trace. It
    returns the number of trace rows.
    """

    address: Address
    make: Callable[[Step], Any]
    blocks: tuple[Block, ...]
    """Blocks of parameters that affect the outcomes: those of its endpoints and of its network."""
    scratch: Callable[[Any], tuple[int, int]]
    """Words of scratch and of float64 memory that any of some rows needs."""
    outcomes: Callable[[Any], int] = lambda rows: len(Out)
    """Number of columns of the outcomes of some rows."""
    dimensions: tuple[int, ...] = (2, 2, 4, 5, 2)
    """Dimensions of the five arrays of the rows."""
    window: Callable[[Any], Any] = window_of
    """Maximum packets in flight of rows with these parameters [n]."""
    cost: Callable[[Any], Any] = end_of
    """Estimated running time of each row relative to the others, float64[n], see `base.cost`."""
    noalias: bool = False
    """True if no function writes words through one argument and reads them through another.

    Compilers may then keep words in registers (LLVM: `noalias`).
    """
    hot_words: tuple[tuple[int, int], ...] = ()
    """Ranges of scratch [from, to) that every packet accesses; a device keeps them in shared memory."""
    file: Path | None = None
    """User's congestion control, which compilers may reject; None for built-in models."""
    traced_by: "Callable[[], Model] | None" = None
    """Builds the model with a trace, if it is a separate model."""

    @property
    def traced(self) -> "Model | None":
        """Model with a trace, if it is a separate model, else None."""
        return None if self.traced_by is None else self.traced_by()

    @property
    def compile_s(self) -> float:
        """Approximate processor time of compiling on the machine of `compile_time` [s]."""
        return compile_time.seconds(self.address)

    @property
    def name(self) -> str:
        """Name of the model in messages and files."""
        if self.file is None:
            return self.address.name
        engine = "" if self.address.family == "path" else f"{self.address.engine}_"
        of = "_mobile" if self.address.mobile else "_aqm" if self.address.aqm else ""
        of += ("_messages" if self.address.messages else "") + ("_tuned" if self.address.autotuning else "")
        of += "_traced" if self.address.traced else ""
        return f"{engine}user_{self.file.stem}_{self.address.sender}{of}"
