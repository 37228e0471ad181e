"""A store: the results of one sweep in a folder or at an fsspec URL, written chunk by chunk.

    manifest.json                    the sweep, written once
    chunks/cells-....parquet         rows of finished cells; the checksum is in the name
    chunks/replications-....parquet  their replications, if the sweep keeps them; written first
    chunks/screened-....parquet      what cheap models say of cells, with `fidelity: auto`
    runs/....json                    a record of each run

No chunk is ever changed and none is shared, so any number of clients may write at once without a
lock, and one that is killed leaves whole files and at most a temporary one.  A store grows by a new
manifest in place of the old, which it holds: the chunks stay as they are (see `growth`).
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
from netcarlo.sweeps.store.chunk_files import ChunkFile, DamageError, Placed, TruncationError
from netcarlo.sweeps.store.files import Files
from netcarlo.sweeps.store.merge import Flags, merged
from netcarlo.sweeps.store.versions import Version, versions

FORMAT = 2
"""1, and 2 of a store that has grown."""
MANIFEST = "manifest.json"
RUNS = "runs"


@dataclass(frozen=True)
class Scan:
    """What is in a store, each file of it verified."""

    done: Flags
    """bool[n_cells]: finished; with all replications if the sweep keeps them."""
    failed: Flags
    """bool[n_cells]: failed, and not finished in another file."""
    damaged: dict[str, str]
    """Names of files that were left out, and why; their cells count as missing."""
    files: tuple[Placed, ...]
    """Intact files of cells, ascending by first cell."""
    replications: tuple[Placed, ...]
    """Intact files of replications, likewise,"""
    screened: tuple[Placed, ...]
    """of what cheap models say,"""
    begun: tuple[Placed, ...]
    """and of the replications of cells that had fewer of them before the store grew;"""
    begun_replications: int
    """how many of those there are of cells that are not done."""
    known: Flags
    """bool[n_cells]: cells of which a cheap model says something."""
    overlapping: bool
    """Whether some cell is in more than one file."""
    n_bytes: int
    """Size of the chunk files, damaged ones included."""

    @property
    def n_files(self) -> int:
        """Number of intact files of cells."""
        return len(self.files)


class Store:
    """A store of the sweep in its manifest; make or open it with `create` or `open`."""

    def __init__(self, files: Files, manifest: Mapping[str, Any]) -> None:
        """Use `create` or `open`."""
        self.files = files
        self.manifest = manifest
        manifests.check(manifest)
        self.versions = versions(manifest)
        """The sweep and those that it grew from, the newest first."""
        self.url = files.url

    @classmethod
    def create(cls, url: str | os.PathLike[str], manifest: Mapping[str, Any]) -> "Store":
        """Make a store, or open it if it holds the same sweep.

        `manifest` is that of `Sweep.manifest()`.  Raises InputError if there is something else: a
        store of another sweep or model, or other files.
        """
        files = Files(url)
        if MANIFEST not in (there := files.names()):
            if other := sorted(there.keys() - {chunk_files.FOLDER, RUNS}):
                raise InputError(
                    f"store {files.url}: is not a store and not empty (it holds {other[0]}); "
                    "name a new folder"
                )
            record = {**manifest, "created": datetime.now(UTC).isoformat(timespec="seconds")}
            # Another client may make the same store at this moment: the first one is kept.
            files.write(MANIFEST, json.dumps(record, indent=1).encode(), new=True)
        store = cls.open(url)
        _same(store, manifest)
        return store

    @classmethod
    def open(cls, url: str | os.PathLike[str]) -> "Store":
        """Open a store.  Raises InputError if there is none, or one that cannot be read."""
        kinds.refuse(os.fspath(url), kinds.STORE)
        files = Files(url)
        data = files.read(MANIFEST)
        if data is None:
            raise InputError(
                f"store {files.url}: there is none (no {MANIFEST}); make one with "
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
                "run the sweep again, its finished chunks are kept"
            ) from None
        raise InputError(
            f"store {files.url}: format {found} of a later netcarlo, this one knows up to {FORMAT}; "
            "upgrade netcarlo"
        )

    @property
    def outside(self) -> str:
        """Sentence about cells outside the validated range; empty if none are, or if unknown."""
        return str((self.manifest.get("outside_validated_range") or {}).get("text", ""))

    @property
    def sweep(self) -> Mapping[str, Any]:
        """The manifest's entry `sweep`."""
        found: Mapping[str, Any] = self.manifest["sweep"]
        return found

    def write(self, cells: pa.Table, replications: pa.Table | None = None) -> None:
        """Add a chunk: a row per cell, ascending, and a row per replication if the sweep keeps them.

        When it returns the chunk is on the disk.  Raises InputError, and leaves the store as it
        was, where there is no room or no permission.
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
        if replications is not None and replications.num_rows:  # the mark of a finished cell comes last
            self._write("replications", replications)
        self._write("cells", cells)

    def write_screened(self, cells: pa.Table) -> None:
        """Add what cheap models say of some cells, ascending.  Raises InputError as `write`."""
        self._write("screened", cells)

    def _write(self, kind: chunk_files.Kind, table: pa.Table) -> None:
        file, data = chunk_files.pack(
            kind, table, sweep=self.sweep["digest"], model_version=self.sweep["model_version"]
        )
        self.files.write(file.name, data)

    def scan(self, *, repair: bool = False) -> Scan:
        """Verify every chunk file and find the cells that are there; some bytes of memory per cell.

        `repair`: remove truncated and altered files, whose cells run again, and temporary ones of
        more than a day.  Intact files of other sweeps and files of other names are left alone.
        """
        n_cells = int(self.sweep["n_cells"])
        ok, failed, kept, known = (np.zeros(n_cells, dtype=bool) for _ in range(4))
        intact: dict[str, list[Placed]] = {"cells": [], "replications": [], "screened": [], "begun": []}
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
                placed = Placed(int(cell[0]), int(cell[-1]), file, version)
                if not version.counts:
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
        """Each cell that is there exactly once, ascending, whatever files overlap; a part at a time.

        A finished row goes before a failed one.  Raises InputError for an unknown column, or if a
        file is altered meanwhile.
        """
        scan = self.scan()
        return self._cells(scan.files, scan.failed, columns)

    def screened_tables(self, columns: Sequence[str] | None = None) -> Iterator[pa.Table]:
        """The same of what cheap models say of cells."""
        scan = self.scan()
        return self._cells(scan.screened, ~scan.known, columns)

    def _cells(
        self, files: Sequence[Placed], bad: Flags, columns: Sequence[str] | None
    ) -> Iterator[pa.Table]:
        """The rows of files of cells; a failed one where the cell is `bad`, bool[n_cells]."""
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
        """Each replication of the finished cells, or of those in `cells`, ascending; a part at a time.

        Raises InputError if the sweep does not keep replications.
        """
        if not self.sweep["keep_replications"]:
            raise InputError(
                f"store {self.url}: replications were not kept; write `keep: replications` into the sweep "
                "file and run it into another folder"
            )
        scan = self.scan()
        asked = scan.done
        if cells is not None:
            asked = asked & np.isin(np.arange(len(asked)), list(cells))
        return self._merged(scan.replications, None, lambda table: asked[table.column("cell").to_numpy()])

    def _merged(
        self, files: Sequence[Placed], columns: list[str] | None, wanted: Callable[[pa.Table], Flags]
    ) -> Iterator[pa.Table]:
        try:
            yield from merged(
                files, lambda placed: self._table(placed.file, columns), wanted=wanted,
                n_cells=self.sweep["n_cells"],
            )  # fmt: skip
        except DamageError as error:
            raise InputError(f"store {self.url}: a file was {error} while it was read; try again") from None

    def _table(self, file: ChunkFile, columns: list[str] | None = None) -> pa.Table:
        return self._read(file, columns)[0]

    def _read(self, file: ChunkFile, columns: list[str] | None) -> tuple[pa.Table, Version]:
        return file.table(self.files, columns, versions=self.versions)

    def frame(self, columns: Sequence[str] | None = None) -> pd.DataFrame:
        """The rows of `tables` as one DataFrame; without rows it has no columns but those asked for."""
        return _frame(self.tables(columns), columns)

    def screened(self, columns: Sequence[str] | None = None) -> pd.DataFrame:
        """The rows of `screened_tables` as one DataFrame."""
        return _frame(self.screened_tables(columns), columns)

    def replications(self, cells: Collection[int] | None = None) -> pd.DataFrame:
        """The rows of `replication_tables` as one DataFrame: cell, replication, outcomes."""
        return _frame(self.replication_tables(cells), ["cell", "replication"])

    def digest(self) -> str:
        """A hash of the results, 32 hexadecimal digits; see `digests.digest`."""
        return digests.digest(self.tables())

    @property
    def earlier(self) -> "Store | None":
        """The store as it was before it grew, if it did; what is new are damaged files to it."""
        grown = self.manifest.get("grown_from")
        return Store(self.files, grown["manifest"]) if grown else None

    def add_run(self, record: Mapping[str, Any]) -> None:
        """Keep the record of a run, data for JSON.  Raises InputError as `write` does."""
        moment = datetime.now(UTC).strftime("%Y%m%dT%H%M%S%f")
        name = f"{RUNS}/{moment}-{secrets.token_hex(4)}.json"
        self.files.write(name, json.dumps(record, indent=1).encode())

    def runs(self) -> list[dict[str, Any]]:
        """The records of all runs in the order in which they were added; unreadable ones are left out."""
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
    """Raise InputError unless the store is of the sweep in `manifest`; say what differs."""
    there, asked = store.sweep, manifest["sweep"]
    before, now = store.manifest.get("definition", {}), manifest["definition"]
    if there["digest"] == asked["digest"]:
        if [axis["name"] for axis in there["axes"]] == [axis["name"] for axis in asked["axes"]]:
            return
        reason = f"holds another '{there['name']}' (its axes are in another order)"
    elif there["name"] != asked["name"]:
        reason = f"holds the sweep '{there['name']}', not '{asked['name']}'"
    elif other := differences(before, now):
        reason = f"holds another '{there['name']}' (they differ in {', '.join(other)})"
        if {*other} <= {"axes", "draw", "scenario.replications"}:
            reason += "; --grow adds draws, values of axes and replications to it, or"
            raise InputError(f"store {store.url}: {reason} name another folder")
    else:
        reason = (
            f"holds '{there['name']}' of the models {there['model_version']}, netcarlo has "
            f"{asked['model_version']} now and results of the two do not mix"
        )
    raise InputError(f"store {store.url}: {reason}; name another folder")


def differences(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """The keys in which two definitions differ; of the scenario its fields."""
    found = []
    for key in sorted(before.keys() | now.keys()):
        old, new = before.get(key), now.get(key)
        if key == "scenario" and isinstance(old, dict) and isinstance(new, dict):
            names = sorted(old.keys() | new.keys())
            found += [f"scenario.{name}" for name in names if old.get(name) != new.get(name)]
        elif old != new:
            found.append(key)
    return found
