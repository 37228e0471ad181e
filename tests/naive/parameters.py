"""One row of `Rows`, taken apart into plain Python."""

from types import SimpleNamespace

from netcarlo.kernels.layout import FOREVER, P, Rows


class Parameters(SimpleNamespace):
    """The columns of `P` as attributes, plain integers."""

    def __init__(self, rows: Rows, row: int) -> None:
        super().__init__(**{column.name: int(rows.parameters[row, column]) for column in P})


def outages_of(rows: Rows, row: int, path: int, hop: int) -> list[tuple[int, int]]:
    """The outages of a hop: start and end [ns]."""
    pairs = [(int(start), int(end)) for start, end in rows.outages[row, path, hop]]
    return [(start, end) for start, end in pairs if start < FOREVER]
