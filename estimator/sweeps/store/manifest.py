"""What a store must hold to be read: the entries of its manifest, and the columns of its tables.

A store may come from anybody, so both are checked before anything relies on them.
"""

import math
from collections.abc import Mapping
from typing import Annotated, Any, Self

import pyarrow as pa
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from netcarlo.schema.problems import explain
from netcarlo.simulation.ensemble import FEATURES
from netcarlo.sweeps.analysis.decisions import MARGIN
from netcarlo.sweeps.space.space import ANSWERED, GAINS, MOST_CELLS, STATISTICS

Count = Annotated[int, Field(ge=1, le=MOST_CELLS)]


class _Entries(BaseModel):
    """Entries of these types; others may be there, too."""

    # Old pydantic warns of names that begin with "model_" unless told that none is its own.
    model_config = ConfigDict(strict=True, extra="ignore", protected_namespaces=())


class Axis(_Entries):
    """An axis and its points."""

    name: str
    unit: str
    numeric: bool
    values: Annotated[list[float | str], Field(min_length=1)]
    log: bool

    @model_validator(mode="after")
    def _numbers_are_numbers(self) -> Self:
        if any(isinstance(value, str) is self.numeric for value in self.values):
            raise ValueError(
                f"values of the axis {self.name!r} are not {'numbers' if self.numeric else 'texts'}"
            )
        return self


class Draw(_Entries):
    """How networks are drawn; see `designs`."""

    count: Count
    method: str
    blocks: int
    size: Count


class Auto(_Entries):
    """What a sweep with `fidelity: auto` decides; see `screening`."""

    goals: list[str]
    winner: str | None
    wrong: Annotated[float, Field(gt=0, lt=1)]


class About(_Entries):
    """The entry `sweep`."""

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
            raise ValueError(f"n_cells is {self.n_cells}, the axes and the draw have {cells}")
        if self.compare is not None and self.compare not in [axis.name for axis in self.axes]:
            raise ValueError(f"compare is {self.compare!r}, which is no axis")
        if self.auto and not {*self.auto.goals, self.auto.winner} <= {*self.goals, *self.outcomes, None}:
            raise ValueError("auto decides what is no goal and no outcome")
        return self


class Grown(_Entries):
    """What a store was before it grew."""

    cells: Annotated[int, Field(ge=0, le=MOST_CELLS)]
    """Finished then,"""
    digest: str
    """and the digest of their rows."""
    manifest: "_Manifest"


class Beyond(_Entries):
    """Number of cells outside the validated range, and the quantities; absent in older stores."""

    cells: int
    looked_at: int
    text: str
    """Count of cells and quantities in one line; empty if no cell leaves the range."""


class _Manifest(_Entries):
    sweep: About
    outside_validated_range: Beyond | None = None
    definition: dict[str, Any]
    source: str
    versions: dict[str, str]
    seed_scheme: str
    created: str
    grown_from: Grown | None = None


def check(manifest: Any) -> None:
    """Raise ValueError that names the first wrong entry of a manifest."""
    try:
        _Manifest.model_validate(manifest)
    except ValidationError as error:
        raise ValueError(explain(error).lines[0]) from None


def about(manifest: Mapping[str, Any]) -> About:
    """The entry `sweep` of a manifest that was checked."""
    return About.model_validate(manifest["sweep"])


def schema(about: About) -> pa.Schema:
    """The columns of a table of cells that is complete, see docs/reference/store.md."""
    fields = [("cell", pa.int64()), *((name, pa.string()) for name in ("key", "status", "error"))]
    fields += [(name, pa.string()) for name in ANSWERED if about.auto]
    if about.draw:
        fields += [("draw", pa.int64()), ("block", pa.int64())]
    fields += [(axis.name, pa.float64() if axis.numeric else pa.string()) for axis in about.axes]
    fields += [(name, pa.float64()) for name in (*about.inputs, *about.derived)]
    fields += [(name, pa.int64() if name == "n_hops" else pa.float64()) for name in FEATURES]
    fields += [("seed", pa.int64()), ("replications", pa.int64())]
    for outcome in about.outcomes:
        gains = GAINS if about.compare else ()
        fields += [(outcome + suffix, pa.float64()) for suffix in ("", *STATISTICS, *gains) if suffix != "_n"]
        fields += [(f"{outcome}_n", pa.int64())]
    ends = ("", "_low", "_high", *((MARGIN,) if about.auto else ()))
    fields += [(goal + suffix, pa.float64()) for goal in about.goals for suffix in ends]
    return pa.schema(fields)


def schema_of_replications(about: About) -> pa.Schema:
    """The columns of a table of replications that is complete."""
    return pa.schema(
        [("cell", pa.int64()), ("replication", pa.int64()), *((o, pa.float64()) for o in about.outcomes)]
    )
