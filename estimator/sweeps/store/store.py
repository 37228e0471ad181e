"""Store: the results of one sweep in a folder or at an fsspec URL, written chunk by chunk.

    manifest.json                    the sweep, written once
    chunks/cells-....parquet         rows of finished cells; the checksum is in the name
    chunks/replications-....parquet  their replications, if the sweep keeps them; written first
    chunks/screened-....parquet      rows of cells by cheap models, with `fidelity: auto`
    runs/....json                    a record of each run

A chunk file is never changed, and each client writes its own, so any number of clients may write at the same
time without a lock. A client that is killed leaves complete files and at most one temporary file. If a store
grows, a new manifest that contains the old one replaces it, and the chunk files do not change (see `growth`).
"""

import json
import os
import secrets
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from netcarlo.errors import InputError, suggest
from netcarlo.schema import kinds
from netcarlo.sweeps.store import chunk_files, digests
from netcarlo.sweeps.store import manifest as manifests
from netcarlo.sweeps.store.chunk_files import ChunkFile, DamageError, StoredFile, TruncationError
from netcarlo.sweeps.store.files import Files
from netcarlo.sweeps.store.merge import Flags, merged
from netcarlo.sweeps.store.versions import Version, versions

FORMAT = 2
"""Newest format of a manifest: 1, or 2 for a store that has grown."""
MANIFEST = "manifest.json"
RUNS = "runs"


@dataclass(frozen=True)
class Scan:
    """Verified contents of a store."""

    done: Flags
    """True for finished cells, bool[n_cells]; with all replications if the sweep keeps them."""
    failed: Flags
    """True for cells that failed and are not finished in another file, bool[n_cells]."""
    damaged: dict[str, str]
    """Damaged files by name, with the reason. Their cells count as missing."""
    files: tuple[StoredFile, ...]
    """Intact files of cells, ascending by first cell."""
    replications: tuple[StoredFile, ...]
    """Intact files of replications, ascending by first cell."""
    screened: tuple[StoredFile, ...]
    """Intact files of cells by cheap models, ascending by first cell."""
    begun: tuple[StoredFile, ...]
    """Intact files of replications of cells that need more replications since the store grew."""
    begun_replications: int
    """Number of replications in `begun` of cells that are not finished."""
    known: Flags
    """True for cells that a cheap model has answered, bool[n_cells]."""
    overlapping: bool
    """True if a cell is in more than one file."""
    n_bytes: int
    """Size of all chunk files, including damaged ones [bytes]."""

    @property
    def n_files(self) -> int:
        """Number of intact files of cells."""
        return len(self.files)


class Store:
    """Store of a sweep; create or open one with `create` or `open`."""

    def __init__(self, files: Files, manifest: Mapping[str, Any]) -> None:
        """Make a store of files and a manifest; use `create` or `open` instead."""
        self.files = files
        self.manifest = manifest
        manifests.check(manifest)
        self.versions = versions(manifest)
        """The sweep and its earlier versions by digest, newest first."""
        self.url = files.url

    @classmethod
    def create(cls, url: str | os.PathLike[str], manifest: Mapping[str, Any]) -> "Store":
        """Create a store, or open it if it has the same sweep.

        `manifest` is the result of `Sweep.manifest()`. Raises InputError if the folder has other files, or a
        store of another sweep or model version.
        """
        files = Files(url)
        if MANIFEST not in (there := files.names()):
            if other := sorted(there.keys() - {chunk_files.FOLDER, RUNS}):
                raise InputError(
                    f"store {files.url}: is not a store and is not empty (it contains {other[0]}); "
                    "name a new folder"
                )
            record = {**manifest, "created": datetime.now(UTC).isoformat(timespec="seconds")}
            # Another client may create the same store at this moment; the first manifest remains.
            files.write(MANIFEST, json.dumps(record, indent=1).encode(), new=True)
        store = cls.open(url)
        _same(store, manifest)
        return store

    @classmethod
    def open(cls, url: str | os.PathLike[str]) -> "Store":
        """Open a store. Raises InputError if it does not exist or cannot be read."""
        kinds.refuse(os.fspath(url), kinds.STORE)
        files = Files(url)
        data = files.read(MANIFEST)
        if data is None:
            raise InputError(
                f"store {files.url}: does not exist (no {MANIFEST}); create it with "
                f"`netcarlo sweep FILE --out {files.url}`"
            )
        try:
            manifest = json.loads(data)
            found = int(manifest["format"])
            if found <= FORMAT:
                return cls(files, manifest)
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise InputError(
                f"store {files.url}: {MANIFEST} is damaged ({type(error).__name__}: {error}); remove it and "
                "run the sweep again; finished chunks are reused"
            ) from None
        raise InputError(
            f"store {files.url}: format {found} was written by a later netcarlo, and this one reads up to "
            f"{FORMAT}; upgrade netcarlo"
        )

    @property
    def outside(self) -> str:
        """Sentence about cells outside the validated range; empty if none are, or if unknown."""
        return str((self.manifest.get("outside_validated_range") or {}).get("text", ""))

    @property
    def sweep(self) -> Mapping[str, Any]:
        """Entry `sweep` of the manifest."""
        found: Mapping[str, Any] = self.manifest["sweep"]
        return found

    def write(self, cells: pa.Table, replications: pa.Table | None = None) -> None:
        """Add a chunk: a row for each cell, ascending, and a row for each replication if the sweep keeps
        them.

        The chunk is on the disk when this returns. Raises InputError, and does not change the store, if there
        is no space or no permission.
        """
        kept = bool(self.sweep["keep_replications"])
        finished = "ok" in cells.column("status").to_pylist()
        if (kept and finished and replications is None) or (replications is not None and not kept):
            raise ValueError(f"keep_replications is {kept}, but replications are {type(replications)}")
        numbers = cells.column("cell").to_numpy()
        if not len(numbers) or (np.diff(numbers) <= 0).any():
            raise ValueError("a chunk needs rows of ascending cells")
        if numbers[0] < 0 or numbers[-1] >= self.sweep["n_cells"]:
            raise ValueError(f"cells {numbers[0]} to {numbers[-1]} are not all of {self.sweep['n_cells']}")
        if (
            replications is not None and replications.num_rows
        ):  # before the cells, which mark them as finished
            self._write("replications", replications)
        self._write("cells", cells)

    def write_screened(self, cells: pa.Table) -> None:
        """Add rows of cells by cheap models, ascending. Raises InputError like `write`."""
        self._write("screened", cells)

    def _write(self, kind: chunk_files.Kind, table: pa.Table) -> None:
        file, data = chunk_files.pack(
            kind, table, sweep=self.sweep["digest"], model_version=self.sweep["model_version"]
        )
        self.files.write(file.name, data)

    def scan(self, *, repair: bool = False) -> Scan:
        """Verify every chunk file and find the stored cells. Takes a few bytes of memory for each cell.

        With `repair`, remove truncated and altered files, whose cells are simulated again, and temporary
        files older than a day. Intact files of other sweeps, and files with other names, are not removed.
        """
        n_cells = int(self.sweep["n_cells"])
        ok, failed, kept, known = (np.zeros(n_cells, dtype=bool) for _ in range(4))
        intact: dict[str, list[StoredFile]] = {"cells": [], "replications": [], "screened": [], "begun": []}
        damaged: dict[str, str] = {}
        sizes = self.files.names(chunk_files.FOLDER)
        overlapping = False
        begun = np.zeros(n_cells if len(self.versions) > 1 else 0, np.int32)
        for name in sorted(sizes):
            try:
                file = ChunkFile.parse(name)
                status = ["status"] if file.kind != "replications" else []
                table, version = self._read(file, ["cell", *status])
                cell = table.column("cell").to_numpy()
                placed = StoredFile(int(cell[0]), int(cell[-1]), file, version)
                if not version.complete:
                    if file.kind == "replications":
                        intact["begun"].append(placed)
                        cell, n = np.unique(cell, return_counts=True)
                        begun[cell] = np.maximum(begun[cell], n)
                    continue
                good = np.asarray(table.column("status")) == "ok" if status else np.ones(len(cell), bool)
                if file.kind == "cells":
                    overlapping |= bool((ok[cell] | failed[cell]).any())
                    ok[cell[good]] = True
                    failed[cell[~good]] = True
                elif file.kind == "screened":
                    known[cell[good]] = True
                else:
                    cell = np.unique(cell)
                    overlapping |= bool(kept[cell].any())
                    kept[cell] = True
                intact[file.kind].append(placed)
            except DamageError as error:
                damaged[name] = str(error)
                if repair and isinstance(error, TruncationError):
                    self.files.remove(f"{chunk_files.FOLDER}/{name}")
        if repair:
            self.files.remove_abandoned(chunk_files.FOLDER)
        done = ok & kept if self.sweep["keep_replications"] else ok
        return Scan(
            done=done,
            failed=failed & ~ok,
            damaged=damaged,
            files=tuple(sorted(intact["cells"])),
            replications=tuple(sorted(intact["replications"])),
            screened=tuple(sorted(intact["screened"])),
            begun=tuple(sorted(intact["begun"])),
            begun_replications=int(begun[~done].sum()) if intact["begun"] else 0,
            known=known,
            overlapping=overlapping,
            n_bytes=sum(sizes.values()),
        )

    def tables(self, columns: Sequence[str] | None = None) -> Iterator[pa.Table]:
        """Yield each stored cell once, in ascending order, in parts.

        A finished row has precedence over a failed one. Raises InputError for an unknown column, or if a file
        changes while it is read.
        """
        scan = self.scan()
        return self._cells(scan.files, scan.failed, columns)

    def screened_tables(self, columns: Sequence[str] | None = None) -> Iterator[pa.Table]:
        """Yield the rows of cells by cheap models, like `tables`."""
        scan = self.scan()
        return self._cells(scan.screened, ~scan.known, columns)

    def _cells(
        self, files: Sequence[StoredFile], bad: Flags, columns: Sequence[str] | None
    ) -> Iterator[pa.Table]:
        """Yield the rows of files of cells; failed rows only for cells that are `bad`, bool[n_cells]."""
        needed = ["cell", "status"]
        read = None if columns is None else [*needed, *(name for name in columns if name not in needed)]

        def wanted(table: pa.Table) -> Flags:
            ok: Flags = np.asarray(table.column("status")) == "ok"
            failed: Flags = bad[table.column("cell").to_numpy()]
            return ok | failed

        for part in self._merged(files, read, wanted):
            for name in columns or ():
                if name not in part.column_names:
                    known = self._table(files[0].file).column_names
                    raise InputError(f"store {self.url}: has no column '{name}'; {suggest(name, known)}")
            yield part if columns is None else part.select(columns)

    def replication_tables(self, cells: Collection[int] | None = None) -> Iterator[pa.Table]:
        """Yield each replication of the finished cells, or of those in `cells`, in ascending order, in parts.

        Raises InputError if the sweep does not keep replications.
        """
        if not self.sweep["keep_replications"]:
            raise InputError(
                f"store {self.url}: has no replications; write `keep: replications` in the sweep file and "
                "run it with another folder"
            )
        scan = self.scan()
        asked = scan.done
        if cells is not None:
            asked = asked & np.isin(np.arange(len(asked)), list(cells))
        return self._merged(scan.replications, None, lambda table: asked[table.column("cell").to_numpy()])

    def _merged(
        self, files: Sequence[StoredFile], columns: list[str] | None, wanted: Callable[[pa.Table], Flags]
    ) -> Iterator[pa.Table]:
        try:
            yield from merged(
                files, lambda placed: self._table(placed.file, columns), wanted=wanted,
                n_cells=self.sweep["n_cells"],
            )  # fmt: skip
        except DamageError as error:
            raise InputError(f"store {self.url}: a file became invalid ({error}); try again") from None

    def _table(self, file: ChunkFile, columns: list[str] | None = None) -> pa.Table:
        return self._read(file, columns)[0]

    def _read(self, file: ChunkFile, columns: list[str] | None) -> tuple[pa.Table, Version]:
        return file.table(self.files, columns, versions=self.versions)

    def frame(self, columns: Sequence[str] | None = None) -> pd.DataFrame:
        """Return the rows of `tables` as one DataFrame; without rows it only has the requested columns."""
        return _frame(self.tables(columns), columns)

    def screened(self, columns: Sequence[str] | None = None) -> pd.DataFrame:
        """Return the rows of `screened_tables` as one DataFrame."""
        return _frame(self.screened_tables(columns), columns)

    def replications(self, cells: Collection[int] | None = None) -> pd.DataFrame:
        """Return the rows of `replication_tables` as one DataFrame: cell, replication, outcomes."""
        return _frame(self.replication_tables(cells), ["cell", "replication"])

    def digest(self) -> str:
        """Return a hash of the results, 32 hexadecimal digits; see `digests.digest`."""
        return digests.digest(self.tables())

    @property
    def earlier(self) -> "Store | None":
        """Store before it grew, or None. Newer files count as damaged in it."""
        grown = self.manifest.get("grown_from")
        return Store(self.files, grown["manifest"]) if grown else None

    def add_run(self, record: Mapping[str, Any]) -> None:
        """Store the record of a run, which is data for JSON. Raises InputError like `write`."""
        moment = datetime.now(UTC).strftime("%Y%m%dT%H%M%S%f")
        name = f"{RUNS}/{moment}-{secrets.token_hex(4)}.json"
        self.files.write(name, json.dumps(record, indent=1).encode())

    def runs(self) -> list[dict[str, Any]]:
        """Return the records of all runs in the order of their times, without unreadable ones."""
        found = []
        for name in sorted(self.files.names(RUNS)):
            try:
                record = json.loads(self.files.read(f"{RUNS}/{name}") or b"")
            except (ValueError, RecursionError):
                continue
            if isinstance(record, dict):
                found.append(record)
        return found


def _frame(tables: Iterator[pa.Table], columns: Sequence[str] | None) -> pd.DataFrame:
    found = list(tables)
    if not found:
        return pd.DataFrame(columns=list(columns or ["cell"]))
    frame: pd.DataFrame = pa.concat_tables(found).to_pandas()
    return frame


def _same(store: Store, manifest: Mapping[str, Any]) -> None:
    """Raise InputError with the differences unless the store has the sweep in `manifest`."""
    there, asked = store.sweep, manifest["sweep"]
    before, now = store.manifest.get("definition", {}), manifest["definition"]
    if there["digest"] == asked["digest"]:
        if [axis["name"] for axis in there["axes"]] == [axis["name"] for axis in asked["axes"]]:
            return
        reason = f"has another sweep '{there['name']}' (its axes are in another order)"
    elif there["name"] != asked["name"]:
        reason = f"has the sweep '{there['name']}', not '{asked['name']}'"
    elif other := differences(before, now):
        reason = f"has another sweep '{there['name']}' (they differ in {', '.join(other)})"
        if {*other} <= {"axes", "draw", "scenario.replications"}:
            remedy = "use --grow to add draws, values of axes or replications, or name another folder"
            raise InputError(f"store {store.url}: {reason}; {remedy}")
    else:
        reason = (
            f"has '{there['name']}' of model version {there['model_version']}, this is "
            f"{asked['model_version']}, and their results cannot be mixed"
        )
    raise InputError(f"store {store.url}: {reason}; name another folder")


def differences(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """Return the entries in which two definitions differ, with the single fields of the scenario."""
    found = []
    for key in sorted(before.keys() | now.keys()):
        old, new = before.get(key), now.get(key)
        if key == "scenario" and isinstance(old, dict) and isinstance(new, dict):
            names = sorted(old.keys() | new.keys())
            found += [f"scenario.{name}" for name in names if old.get(name) != new.get(name)]
        elif old != new:
            found.append(key)
    return found
