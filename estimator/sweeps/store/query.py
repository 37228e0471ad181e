"""SQL queries on a store with DuckDB."""

import tempfile
from collections.abc import Sequence
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.dataset as ds

from netcarlo.errors import InputError
from netcarlo.sweeps.store.chunk_files import StoredFile
from netcarlo.sweeps.store.store import Scan, Store


def query(store: Store, sql: str) -> pd.DataFrame:
    """Return the rows of one SELECT on the views `cells` and, if the store has them, `replications` and
    `screened`.

    `cells` has one row for each cell. A missing number (NaN) is NULL, so averages leave it out. The statement
    cannot read anything else and cannot write. Raises InputError with the message of DuckDB.
    """
    scan = store.scan()
    if not scan.files:
        raise InputError(f"store {store.url}: has no finished cells yet; wait for the first chunk")
    with tempfile.TemporaryDirectory() as scratch, _connect(scratch) as connection:
        _views(connection, store, scan)
        try:
            statements = connection.extract_statements(sql)
            if len(statements) != 1 or statements[0].type not in READING:
                raise InputError(f"query: {sql!r} is not one SELECT; write SELECT ... FROM cells")
            frame: pd.DataFrame = connection.execute(statements[0]).df()
            return frame
        except duckdb.Error as error:
            raise InputError(f"query: {_advice(error, sql)}") from None


READING = (duckdb.StatementType.SELECT, duckdb.StatementType.EXPLAIN)


def _connect(scratch: str) -> Any:
    connection = duckdb.connect(config={"temp_directory": scratch})
    # pyarrow reads the files; DuckDB only needs its own temporary files.
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


def _view(connection: Any, store: Store, name: str, files: Sequence[StoredFile], *, once: bool) -> None:
    """Create a view of rows of cells. With `once`, only one row of a cell that several files have."""
    schema = _register(connection, store, name, files)
    values = ", ".join(
        f"nullif({_quoted(field.name)}, 'nan'::DOUBLE) AS {_quoted(field.name)}"
        if field.type == pa.float64()
        else _quoted(field.name)
        for field in schema
    )
    first = (
        "QUALIFY row_number() OVER (PARTITION BY cell ORDER BY status DESC) = 1"  # status ok before failed
    )
    connection.execute(f"CREATE VIEW {name} AS SELECT {values} FROM {name}_files {first if once else ''}")


def _register(connection: Any, store: Store, name: str, files: Sequence[StoredFile]) -> pa.Schema:
    """Create the view `NAME_files` of files, with cells renumbered for the newest version. Return its
    columns."""
    groups: dict[str, list[StoredFile]] = {}
    for each in files:
        groups.setdefault(each.version.sweep_entry.digest if each.version.renumbered else "", []).append(each)
    parts = []
    for number, group in enumerate(groups.values()):
        paths = [store.files.path(each.file.name) for each in group]
        data = ds.dataset(paths, filesystem=store.files.filesystem, format="parquet")
        part = f"{name}_files_{number}"
        connection.register(part, data)
        version = group[0].version
        if version.renumbered:
            cells = np.arange(version.sweep_entry.n_cells)
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


def _advice(error: duckdb.Error, statement: str) -> str:
    """Return the message of DuckDB about a statement, without its excerpt of it, and a remedy."""
    words = str(error).partition("\nLINE ")[0].strip().replace("!\n", "\n").replace("\n", "; ")
    if isinstance(error, duckdb.CatalogException):
        return f"{words}; the tables are cells, replications (if stored) and screened (fidelity: auto)"
    if isinstance(error, duckdb.ParserException | duckdb.BinderException) and "." in statement:
        return f'{words}; a column whose name has a dot needs double quotes, as in "hops.0.loss"'
    return f"{words}; correct the statement, as in SELECT key, goodput_bps FROM cells"
