"""SQL over a store, by DuckDB."""

import tempfile
from collections.abc import Sequence
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.dataset as ds

from netcarlo.errors import InputError
from netcarlo.sweeps.store.chunk_files import Placed
from netcarlo.sweeps.store.store import Scan, Store


def query(store: Store, sql: str) -> pd.DataFrame:
    """The rows of one SELECT over the views `cells` and, if the sweep has them, `replications` and
    `screened`.

    A row of `cells` is a cell, each once; a number that does not exist (NaN) is NULL there, so
    averages leave it out.  The statement sees nothing else and cannot write.  Raises InputError
    with what DuckDB says about a statement that it cannot run.
    """
    scan = store.scan()
    if not scan.files:
        raise InputError(f"store {store.url}: holds no finished cell yet; wait for the first chunk")
    with tempfile.TemporaryDirectory() as scratch, _connect(scratch) as connection:
        _views(connection, store, scan)
        try:
            statements = connection.extract_statements(sql)
            if len(statements) != 1 or statements[0].type not in READING:
                raise InputError(f"query: {sql!r} is not one SELECT; write SELECT ... FROM cells")
            frame: pd.DataFrame = connection.execute(statements[0]).df()
            return frame
        except duckdb.Error as error:
            raise InputError(f"query: {_advice(error)}") from None


READING = (duckdb.StatementType.SELECT, duckdb.StatementType.EXPLAIN)


def _connect(scratch: str) -> Any:
    connection = duckdb.connect(config={"temp_directory": scratch})
    # pyarrow reads the files, so DuckDB itself needs none but those it spills to.
    connection.execute("SET enable_external_access = false; SET lock_configuration = true")
    return connection


def _views(connection: Any, store: Store, scan: Scan) -> None:
    _view(connection, store, "cells", scan.files, once=scan.overlapping)
    if scan.screened:
        _view(connection, store, "screened", scan.screened, once=True)
    if scan.replications:
        _register(connection, store, "replication", scan.replications)
        once = "QUALIFY row_number() OVER (PARTITION BY cell, replication) = 1"
        connection.execute(
            "CREATE VIEW replications AS SELECT * FROM replication_files "
            "WHERE cell IN (SELECT cell FROM cells_files WHERE status = 'ok') "
            f"{once if scan.overlapping else ''}"
        )


def _view(connection: Any, store: Store, name: str, files: Sequence[Placed], *, once: bool) -> None:
    """A view of rows of cells, each of them `once` where several files may have it."""
    schema = _register(connection, store, name, files)
    values = ", ".join(
        f"nullif({_quoted(field.name)}, 'nan'::DOUBLE) AS {_quoted(field.name)}"
        if field.type == pa.float64()
        else _quoted(field.name)
        for field in schema
    )
    first = "QUALIFY row_number() OVER (PARTITION BY cell ORDER BY status DESC) = 1"  # ok before failed
    connection.execute(f"CREATE VIEW {name} AS SELECT {values} FROM {name}_files {first if once else ''}")


def _register(connection: Any, store: Store, name: str, files: Sequence[Placed]) -> pa.Schema:
    """Make a relation `NAME_files` of files, with the numbers that cells have now; its columns."""
    groups: dict[str, list[Placed]] = {}
    for each in files:
        groups.setdefault(each.version.about.digest if each.version.moved else "", []).append(each)
    parts = []
    for number, group in enumerate(groups.values()):
        paths = [store.files.path(each.file.name) for each in group]
        data = ds.dataset(paths, filesystem=store.files.filesystem, format="parquet")
        part = f"{name}_files_{number}"
        connection.register(part, data)
        version = group[0].version
        if version.moved:
            cells = np.arange(version.about.n_cells)
            connection.register(f"{part}_now", pa.table({"cell": cells, "now": version.renumber(cells)}))
            columns = f"* EXCLUDE (now) REPLACE (now AS cell) FROM {part} JOIN {part}_now USING (cell)"
            parts.append(f"SELECT {columns}")
        else:
            parts.append(f"SELECT * FROM {part}")
    connection.execute(f"CREATE VIEW {name}_files AS {' UNION ALL BY NAME '.join(parts)}")
    schema: pa.Schema = data.schema
    return schema


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _advice(error: duckdb.Error) -> str:
    """What DuckDB says without the drawing of where, and what else it takes to write a statement."""
    words = str(error).partition("\nLINE ")[0].strip().replace("!\n", "\n").replace("\n", "; ")
    if isinstance(error, duckdb.CatalogException):
        return f"{words}; the tables are cells and replications (if kept), with fidelity: auto screened"
    if isinstance(error, duckdb.ParserException | duckdb.BinderException):
        return f'{words}; a column whose name has a dot needs double quotes, as in "hops.0.loss"'
    return f"{words}; correct the statement"
