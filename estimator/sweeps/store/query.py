"""SQL over a store, by DuckDB."""

import tempfile
from typing import Any

import duckdb
import pandas as pd
import pyarrow as pa
import pyarrow.dataset as ds

from netcarlo.errors import InputError
from netcarlo.sweeps.store.chunk_files import ChunkFile
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
    _view(connection, "cells", _dataset(store, scan.files), once=scan.overlapping)
    if scan.screened:
        _view(connection, "screened", _dataset(store, scan.screened), once=True)
    if scan.replications:
        connection.register("replication_files", _dataset(store, scan.replications))
        once = "QUALIFY row_number() OVER (PARTITION BY cell, replication) = 1"
        connection.execute(
            "CREATE VIEW replications AS SELECT * FROM replication_files "
            "WHERE cell IN (SELECT cell FROM cells_files WHERE status = 'ok') "
            f"{once if scan.overlapping else ''}"
        )


def _view(connection: Any, name: str, data: Any, *, once: bool) -> None:
    """A view of rows of cells, each of them `once` where several files may have it."""
    connection.register(f"{name}_files", data)
    values = ", ".join(
        f"nullif({_quoted(field.name)}, 'nan'::DOUBLE) AS {_quoted(field.name)}"
        if field.type == pa.float64()
        else _quoted(field.name)
        for field in data.schema
    )
    first = "QUALIFY row_number() OVER (PARTITION BY cell ORDER BY status DESC) = 1"  # ok before failed
    connection.execute(f"CREATE VIEW {name} AS SELECT {values} FROM {name}_files {first if once else ''}")


def _dataset(store: Store, files: tuple[ChunkFile, ...]) -> Any:
    paths = [store.files.path(file.name) for file in files]
    return ds.dataset(paths, filesystem=store.files.filesystem, format="parquet")


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
