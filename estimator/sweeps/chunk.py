"""A chunk of a sweep: some of its cells, simulated and summed up; a pure function that runs anywhere."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa


class WrongVersion(RuntimeError):
    """A worker whose models are not the client's."""


@dataclass(frozen=True)
class Chunk:
    """What came of some cells."""

    cells: "pa.Table"
    """A row per cell, see docs/sweeps.md."""
    replications: "pa.Table | None"
    networks: int
    """Replications simulated."""
    packets: int
    """Data packets put out in them."""
    kernel_s: float
    """Core-seconds inside kernels."""
    wall_s: float
    """Seconds for all of it."""
