"""Sentences about the files of a scenario, for its answer: traces, and distributions of sizes or times."""

from collections.abc import Iterator
from typing import Any

from pydantic import BaseModel

from netcarlo.networks.traces.trace import Trace, Traces
from netcarlo.schema import fields
from netcarlo.schema.distributions import Distribution
from netcarlo.schema.readable import scale


def sentences(record: Any, name: str = "") -> Iterator[str]:
    """Yield a sentence for each trace and each file of a distribution in a record, which is called `name`."""
    if isinstance(record, Trace):
        yield f"{name}: {'; '.join([record.summary(), *record.notes])}"
    elif isinstance(record, Traces):
        yield f"{name}: each replication draws one of {len(record.members)} traces"
        for i, one in enumerate(record.members):
            yield from sentences(one, f"{name}.choice.{i}")
    elif isinstance(record, BaseModel):
        for field in type(record).model_fields:
            value, at = getattr(record, field), f"{name}.{field}".lstrip(".")
            if isinstance(value, Distribution) and value.notes:
                of = fields.quantity(record, field)
                unit = of.dimension.unit if of else ""
                load = getattr(record, "offered_bps", None) if field == "size" else None
                offered = [f"{_shown(load, 'bit/s')} offered"] if load else []
                yield f"{at}: {'; '.join([summary(value, unit), *offered, *filter(None, value.notes)])}"
            else:
                yield from sentences(value, at)
    elif isinstance(record, list | tuple):
        for i, one in enumerate(record):
            yield from sentences(one, f"{name}.{i}")


def summary(value: Distribution, unit: str) -> str:
    """Return the number of points or values of an empirical distribution, its bounds and its mean."""
    low, high = (_shown(bound, unit) for bound in value.bounds())
    count = f"{len(value.points[0])} points" if value.kind == "empirical" else f"{len(value.values)} values"
    mean = value.mean() if value.kind == "empirical" else sum(value.values) / len(value.values)
    return f"{count}, {low} to {high}, mean {_shown(mean, unit)}"


def _shown(value: float, unit: str) -> str:
    to = scale([value], unit)
    return f"{value / to.factor:.4g} {to.unit}".strip()
