"""Entries of the manifest of a store, and columns of its tables.

A store may come from an unknown source, so both are checked before they are used.
"""

import math
from collections.abc import Mapping
from typing import Annotated, Any, Self

import pyarrow as pa
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from netcarlo.schema.problems import explain
from netcarlo.simulation.ensemble import FEATURES
from netcarlo.sweeps.analysis.decisions import MARGIN
from netcarlo.sweeps.space.columns import ANSWERED, GAINS, STATISTICS
from netcarlo.sweeps.space.space import MAX_CELLS

Count = Annotated[int, Field(ge=1, le=MAX_CELLS)]


class _Entries(BaseModel):
    """Record of entries with these types. Further entries are ignored."""

    # Old versions of pydantic warn about names that begin with "model_" unless this list is empty.
    model_config = ConfigDict(strict=True, extra="ignore", protected_namespaces=())


class Axis(_Entries):
    """Axis of a sweep."""

    name: str
    """Name of the axis."""
    unit: str
    """SI unit of the values; empty for words."""
    numeric: bool
    """True if the values are numbers."""
    values: Annotated[list[float | str], Field(min_length=1)]
    """Value of each point."""
    log: bool
    """True if the axis is logarithmic."""

    @model_validator(mode="after")
    def _numbers_are_numbers(self) -> Self:
        if any(isinstance(value, str) is self.numeric for value in self.values):
            raise ValueError(
                f"values of the axis {self.name!r} are not {'numbers' if self.numeric else 'texts'}"
            )
        return self


class Draw(_Entries):
    """Design of the drawn networks; see `designs`."""

    count: Count
    method: str
    blocks: int
    size: Count


class Auto(_Entries):
    """Decisions of a sweep with `fidelity: auto`; see `screening`."""

    goals: list[str]
    winner: str | None
    wrong: Annotated[float, Field(gt=0, lt=1)]


class SweepEntry(_Entries):
    """Entry `sweep` of a manifest."""

    name: str
    description: str
    digest: str
    model_version: str
    n_cells: Count
    group: Count
    axes: list[Axis]
    compare: str | None
    draw: Draw | None
    inputs: list[str]
    derived: list[str]
    outcomes: list[str]
    goals: dict[str, str]
    replications: Count
    precision: float | None
    seed: int
    keep_replications: bool
    auto: Auto | None = None

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        cells = math.prod(len(axis.values) for axis in self.axes) * (self.draw.size if self.draw else 1)
        if self.n_cells != cells:
            raise ValueError(f"n_cells is {self.n_cells}, but the axes and the draw give {cells}")
        if self.compare is not None and self.compare not in [axis.name for axis in self.axes]:
            raise ValueError(f"compare is {self.compare!r}, which is not an axis")
        if self.auto and not {*self.auto.goals, self.auto.winner} <= {*self.goals, *self.outcomes, None}:
            raise ValueError("auto refers to an unknown goal or outcome")
        return self


class Grown(_Entries):
    """Store before it grew."""

    cells: Annotated[int, Field(ge=0, le=MAX_CELLS)]
    """Number of finished cells."""
    digest: str
    """Digest of the rows of finished cells."""
    manifest: "_Manifest"
    """Previous manifest."""


class OutsideRange(_Entries):
    """Cells outside the validated range; older stores do not have this entry."""

    cells: int
    """Number of cells outside the range."""
    looked_at: int
    """Number of checked cells."""
    text: str
    """Sentence with the number of cells and the quantities; empty if no cell is outside the range."""


class _Manifest(_Entries):
    sweep: SweepEntry
    outside_validated_range: OutsideRange | None = None
    definition: dict[str, Any]
    source: str
    versions: dict[str, str]
    seed_scheme: str
    created: str
    grown_from: Grown | None = None


def check(manifest: Any) -> None:
    """Check a manifest. Raises ValueError with the first wrong entry."""
    try:
        _Manifest.model_validate(manifest)
    except ValidationError as error:
        raise ValueError(explain(error).lines[0]) from None


def sweep_entry(manifest: Mapping[str, Any]) -> SweepEntry:
    """Return the entry `sweep` of a checked manifest."""
    return SweepEntry.model_validate(manifest["sweep"])


def schema(sweep_entry: SweepEntry) -> pa.Schema:
    """Return the columns of a complete table of cells, see docs/reference/store.md."""
    fields = [("cell", pa.int64()), *((name, pa.string()) for name in ("key", "status", "error"))]
    fields += [(name, pa.string()) for name in ANSWERED if sweep_entry.auto]
    if sweep_entry.draw:
        fields += [("draw", pa.int64()), ("block", pa.int64())]
    fields += [(axis.name, pa.float64() if axis.numeric else pa.string()) for axis in sweep_entry.axes]
    fields += [(name, pa.float64()) for name in (*sweep_entry.inputs, *sweep_entry.derived)]
    fields += [(name, pa.int64() if name == "n_hops" else pa.float64()) for name in FEATURES]
    fields += [("seed", pa.int64()), ("replications", pa.int64())]
    for outcome in sweep_entry.outcomes:
        gains = GAINS if sweep_entry.compare else ()
        fields += [(outcome + suffix, pa.float64()) for suffix in ("", *STATISTICS, *gains) if suffix != "_n"]
        fields += [(f"{outcome}_n", pa.int64())]
    ends = ("", "_low", "_high", *((MARGIN,) if sweep_entry.auto else ()))
    fields += [(goal + suffix, pa.float64()) for goal in sweep_entry.goals for suffix in ends]
    return pa.schema(fields)


def schema_of_replications(sweep_entry: SweepEntry) -> pa.Schema:
    """Return the columns of a complete table of replications."""
    return pa.schema(
        [
            ("cell", pa.int64()),
            ("replication", pa.int64()),
            *((o, pa.float64()) for o in sweep_entry.outcomes),
        ]
    )
