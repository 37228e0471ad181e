"""One row of `Rows` as plain Python objects."""

from netcarlo.kernels.base.layout import FOREVER, Rows
from netcarlo.kernels.base.parameters import MigrationP, MptcpP, P, QuicP, Rfc9260P


class Parameters:
    """Columns of `P` as attributes, plain integers."""

    def __init__(self, rows: Rows, row: int) -> None:
        columns = (*P, *MptcpP, *QuicP, *MigrationP, *Rfc9260P)
        self._values = {column.name: int(rows.parameters[row, column]) for column in columns}

    def __getattr__(self, name: str) -> int:
        return self._values[name]


def outages_of(rows: Rows, row: int, path: int, hop: int) -> list[tuple[int, int]]:
    """Return the outages of a hop: start and end [ns]."""
    pairs = [(int(start), int(end)) for start, end in rows.outages[row, path, hop]]
    return [(start, end) for start, end in pairs if start < FOREVER]
