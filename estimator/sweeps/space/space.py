"""Space of a sweep: the numbering of its cells, and the fields that are set in each of them."""

import hashlib
import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from itertools import islice, product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from netcarlo.errors import Faults, InputError
from netcarlo.estimation import goals
from netcarlo.estimation.goals import Goal
from netcarlo.numerics.arrays import Bools, Floats, Ints
from netcarlo.numerics.statistics import EXPECTED_REPLICATIONS
from netcarlo.scenario import Scenario
from netcarlo.schema import expressions, fields
from netcarlo.schema.axes import AxisSpec, points
from netcarlo.schema.distributions import Distribution
from netcarlo.schema.document import Document
from netcarlo.schema.names import full_names
from netcarlo.simulation import fidelity, measurable
from netcarlo.simulation.ensemble import FEATURES, features
from netcarlo.simulation.launches import model_of
from netcarlo.simulation.provenance import SEED_SCHEME, model_version, versions
from netcarlo.sweeps.space import congestion_files
from netcarlo.sweeps.space.axes import check_points, check_setters, compared, make_axis
from netcarlo.sweeps.space.base import Base, full_name, quantity, shown
from netcarlo.sweeps.space.columns import check_names
from netcarlo.sweeps.space.designs import Design, grouped
from netcarlo.sweeps.space.outside import OutsideRange, count_outside
from netcarlo.sweeps.space.places import Places
from netcarlo.sweeps.space.screening import Screening, make_screening

MAX_CELLS = 10**9
"""Maximum number of cells of a sweep."""
MAX_VARIANTS = 10_000
"""Maximum number of scenarios that differ in more than numbers."""
MAX_CORNERS = 64
"""Maximum number of combinations of smallest and largest values that are checked as complete scenarios."""

MEASURED_CELLS = 64
"""Number of cells that are checked for the outcomes that they have."""


class Input(NamedTuple):
    """Drawn field."""

    name: str
    """Dotted name of the field."""
    dimension: int
    """Column of the design."""
    of_variant: dict[int, tuple[Distribution, bool]]
    """By number of the variants that have the field: its distribution, and True if it is an integer."""


class Batch(NamedTuple):
    """Cells of one variant."""

    variant: int
    """Number of the variant."""
    at: Ints
    """Positions of the cells among the requested ones, [n]."""
    given: dict[str, Floats]
    """Fields that differ between the cells, in SI units, [n] each."""
    features: dict[str, Floats]
    """Features of the networks, such as the base RTT, [n] each."""


class Sweep:
    """Checked sweep. Cells are numbered with the compared axis fastest and the draw slowest."""

    def __init__(
        self,
        definition: dict[str, Any],
        *,
        document: Document | None = None,
        source: str = "",
        derived_checked: bool = False,
    ) -> None:
        """Check a definition that `file.make_sweep` has made. Raises InputError with file and line.

        With `derived_checked`, the derived numbers of every cell are not checked again.
        """
        self.definition = definition
        self.source = source
        self._places = Places(document)
        self.base = Scenario.check(definition["scenario"])
        self._unset = Base(definition["scenario"], self.base, self._places)
        self.examples: dict[tuple[float, ...], tuple[list[tuple[str, str]], dict[str, str]]] = {}
        """Cache of `identity`, by variant and counts."""
        self._known_names: dict[int, dict[str, list[str]]] = {}
        self.derive = {name: str(text) for name, text in definition.get("derive", {}).items()}
        faults, found = Faults(), {}
        for name, spec in definition.get("axes", {}).items():
            with faults, self._places.at("axes", name):
                found[name] = points(name, AxisSpec.check(spec))
        axes = []
        for name in found:
            with faults:
                axes.append(make_axis(self._unset, name, found))
        self._check_outcomes(definition, faults)
        faults.refuse()
        self.axes = tuple(axes)
        self.compare = compared(self._places, self.axes, definition.get("compare"))
        order = [axis for axis in self.axes if axis is not self.compare]
        self._order = (*order, *((self.compare,) if self.compare else ()))
        try:
            made = self._variants()
        except InputError:
            check_points(self._unset, found)
            raise
        self.variants = tuple(scenario for _, _, scenario in made)
        self.inputs: tuple[Input, ...] = ()
        self.design: Design | None = None
        if draw := definition.get("draw"):
            self.inputs = self._inputs()
            with self._places.at("draw"):
                self.design = self._designed(draw)
        self.shape = (self.design.size if self.design else 1, *(len(axis.labels) for axis in self._order))
        self.n_cells = math.prod(self.shape)
        if self.n_cells > MAX_CELLS:
            remedy = f"expected at most {MAX_CELLS}; write fewer points"
            raise self._places.error((), f"the sweep has {self.n_cells} cells; {remedy}")
        self.group = len(self.compare.labels) if self.compare else 1
        for name, goal in self.goals.items():
            if goal.relative and self.compare is None:
                with self._places.at("goals", name):
                    raise InputError("refers to a baseline, but there is none; write compare: NAME_OF_AXIS")
        self.keep_replications = definition.get("keep") == "replications"
        check_names(
            self._places, outcomes=self.outcomes, fields=[*(each.name for each in self.inputs), *self.derive],
            goals=self.goals, axes=[axis.name for axis in self.axes],
        )  # fmt: skip
        self._check_derive()
        used = {word for text in self.derive.values() for word in re.findall(r"\w+", text)}
        check_setters(self._places, self.axes, used=used, auto="fidelity" in definition)
        for number, (settings, words, _) in enumerate(made):
            self._check_numbers(number, settings, words)
        if not derived_checked:
            self._check_derived()
        self.screening = self._screening() if definition.get("fidelity") == "auto" else None
        self.cheap = bool(definition.get("cheap"))
        """True if cheap models simulate the cells: the sweep is the result of `screened`."""
        if self.screening and self.cheap:
            self.variants = tuple(
                variant.model_copy(update={"fidelity": model or "packet"})
                for variant, model in zip(self.variants, self.screening.models, strict=True)
            )

    @classmethod
    def from_definition(cls, definition: dict[str, Any], *, derived_checked: bool = True) -> "Sweep":
        """Return the sweep of a definition that was checked before, perhaps on another machine."""
        return cls(congestion_files.provide(definition), derived_checked=derived_checked)

    def screened(self) -> "Sweep":
        """Return the sweep with the cheap models of `fidelity: auto` in the cells that have one."""
        return Sweep(self.definition | {"cheap": True}, derived_checked=True)

    def answer_reason(self, cells: Ints) -> NDArray[np.object_]:
        """Return the values of the column `because` for cells [n], see docs/sweeps.md."""
        assert self.screening is not None
        group = cells // self.group
        if self.cheap:
            return np.full(len(cells), "clear", object)
        why = np.where(
            self._sample[group], "sample", np.where(self.screening.known[group], "doubt", "unknown")
        )
        return why.astype(object)

    @cached_property
    def _sample(self) -> Bools:
        assert self.screening is not None
        return self.screening.sample()

    def answering(self, fidelity: str) -> "Sweep":
        """Return the sweep whose cells have this fidelity: this one, or that of its cheap models."""
        return self if fidelity == "packet" or self.screening is None else self.screened()

    @property
    def name(self) -> str:
        """Name of the sweep."""
        return str(self.definition["name"])

    @cached_property
    def outside_range(self) -> OutsideRange:
        """Cells outside the validated range of their model."""
        return count_outside(self)

    @cached_property
    def digest(self) -> str:
        """Hash of the definition without name and description, and of the version of the models."""
        what = {
            key: value for key, value in self.definition.items() if key not in (*fields.WORDS, "scenario")
        }
        resolved = [f"{name}={text}" for scenario in self.variants for name, text in fields.texts(scenario)]
        text = "\n".join([congestion_files.without_paths(what), *resolved, model_version()])
        return hashlib.sha256(text.encode()).hexdigest()[:32]

    def record(self) -> dict[str, Any]:
        """Return the part of the manifest about the definition of the sweep."""
        design = self.design
        return {
            "name": self.name,
            "description": self.definition.get("description", ""),
            "digest": self.digest,
            "model_version": model_version(),
            "n_cells": self.n_cells,
            "group": self.group,
            "axes": [
                {"name": axis.name, "unit": axis.unit, "numeric": axis.numeric,
                 "values": list(axis.labels), "log": axis.log}
                for axis in self.axes
            ],
            "compare": self.compare.name if self.compare else None,
            "draw": design and {"count": design.count, "method": design.method,
                                "blocks": design.blocks, "size": design.size},
            "inputs": [each.name for each in self.inputs],
            "derived": list(self.derive),
            "outcomes": list(self.outcomes),
            "goals": {name: goal.text for name, goal in self.goals.items()},
            "replications": self.base.replications,
            "precision": self.base.precision,
            "seed": self.base.seed,
            "keep_replications": self.keep_replications,
            "auto": self.screening and self.screening.record(),
        }  # fmt: skip

    def manifest(self) -> dict[str, Any]:
        """Return the manifest of a store of this sweep, as data for JSON."""
        return {
            "format": 1,
            "sweep": self.record(),
            "outside_validated_range": self.outside_range.record(),
            "definition": self.definition,
            "source": self.source,
            "versions": versions(),
            "seed_scheme": SEED_SCHEME,
        }

    def _check_outcomes(self, definition: Mapping[str, Any], faults: Faults) -> None:
        """Check and set outcomes and goals; add their errors to `faults`."""
        known = []
        for name in dict.fromkeys(definition["outcomes"]):
            with faults, self._places.at("outcomes"):
                known.append(goals.known_outcome(name, self.base))
        self.outcomes = tuple(known)
        self.goals: dict[str, Goal] = {}
        for name, text in definition.get("goals", {}).items():
            with faults, self._places.at("goals", name):
                self.goals[name] = goals.parse(text, self.base)

    def check_measured(self, outcomes: Sequence[str]) -> None:
        """Raise InputError for an outcome that no cell has, or a goal on an outcome that some cells do not
        have.

        In a large sweep, a random sample of cells is checked.
        """
        if {*outcomes, *(goal.outcome for goal in self.goals.values())} <= measurable.EVERYWHERE:
            return
        size = min(self.n_cells, MEASURED_CELLS)
        some = np.random.default_rng(0).choice(self.n_cells, size, replace=False)
        found = [
            (batch.variant, set(measurable.outcomes(self.variants[batch.variant], batch.given)))
            for batch in self.batches(np.sort(some))
        ]
        for name, goal in self.goals.items():
            for variant, have in found:
                if goal.outcome not in have:
                    with self._places.at("goals", name):
                        measurable.refuse(goal.outcome, self.variants[variant], have)
        every = set().union(*(have for _, have in found))
        for name in outcomes:
            if name not in every:
                with self._places.at("outcomes"):
                    measurable.refuse(name, self.base, every)

    @property
    def work(self) -> list[tuple[Scenario, float]]:
        """Scenarios and numbers of replications that take about as long as the sweep."""
        n = EXPECTED_REPLICATIONS if self.base.precision is not None else self.base.replications
        return [(each, self.n_cells * n / len(self.variants)) for each in self.variants]

    def models(self) -> list[Any]:
        """Return the kernel models of the sweep.

        Raises InputError for an invalid congestion control file, or a fidelity that does not support a
        variant.
        """
        for variant in self.variants:
            if variant.fidelity != "packet":
                fidelity.check(variant, variant.fidelity)
        simulated = (variant for variant in self.variants if variant.fidelity != "formula")
        found = list(dict.fromkeys(map(model_of, simulated)))
        return [*found, *self.screened().models()] if self.screening and not self.cheap else found

    def indices(self, cells: Ints) -> dict[str, Ints]:
        """Return the index on each axis, and the number of the `draw`, of cells [n]."""
        place = np.unravel_index(np.asarray(cells, np.int64), self.shape)
        return dict(zip(["draw", *(axis.name for axis in self._order)], place, strict=True))

    def baseline(self, cells: Ints) -> Ints:
        """Return the baseline of cells [n]: the first cell of each group."""
        return np.asarray(cells, np.int64) // self.group * self.group

    def batches(self, cells: Ints) -> Iterator[Batch]:
        """Yield cells [n] by variant. Raises InputError if a derived number is not allowed."""
        place = self.indices(cells)
        variant = self._variant(place)
        draws, row = np.unique(place["draw"], return_inverse=True)
        cube = None if self.design is None else self.design.points(draws)
        for number in np.unique(variant):
            at = np.flatnonzero(variant == number)
            here = {name: index[at] for name, index in place.items()}
            yield self._batch(int(number), at, here, cells[at], None if cube is None else cube[row[at]])

    def _variant(self, place: Mapping[str, Ints]) -> Ints:
        """Return the variants of cells at these indices of the axes."""
        found = np.zeros_like(place["draw"])
        for axis in self.axes:
            if axis.makes_variants:
                found = found * len(axis.labels) + place[axis.name]
        return found

    def _screening(self) -> Screening:
        """Return the questions for cheap models. Raises InputError."""
        if self.keep_replications:
            text = "keep = replications cannot be combined with fidelity: auto; remove one of them"
            raise self._places.error(("keep",), text)
        every = self._variant(self.indices(np.arange(self.n_cells))).reshape(-1, self.group)
        with self._places.at("auto"):
            return make_screening(
                self.definition["auto"], goals=self.goals, outcomes=self.outcomes if self.compare else (),
                variants=self.variants, groups=every, seed=self.base.seed,
            )  # fmt: skip

    def _batch(
        self, number: int, at: Ints, place: dict[str, Ints], cells: Ints, cube: Floats | None
    ) -> Batch:
        # `cube` has the points of the design for the draws of the cells [n, dimension].
        variant = self.variants[number]
        given: dict[str, Floats] = {}
        if cube is not None:
            for each in self.inputs:
                if number in each.of_variant:
                    distribution, whole = each.of_variant[number]
                    values = distribution.quantile(cube[:, each.dimension])
                    given[each.name] = np.rint(values) if whole else values
            given["topology"] = place["draw"].astype(np.float64)
        for axis in self.axes:
            for name, column in axis.columns.items():
                given |= dict.fromkeys(self.names(number, name), column[place[axis.name]])
        found = features(variant, given=given, rows=len(at))
        if self.derive:
            known: dict[str, Any] = dict(found)
            for axis in self.axes:
                index = place[axis.name]
                known[axis.name] = np.array(axis.labels)[index] if axis.numeric else axis.labels[index[0]]
            for name, text in self.derive.items():
                full = self.names(number, name)
                given |= dict.fromkeys(full, self._derived(name, full[0], text, known, variant, cells))
            found = features(variant, given=given, rows=len(at))
        return Batch(number, at, given, found)

    def names(self, variant: int, name: str) -> list[str]:
        """Return the full names of the fields of a variant that a name refers to."""
        known = self._known_names.setdefault(variant, {})
        if name not in known:
            data = self.variants[variant].model_dump(mode="json", exclude_none=True)
            known[name] = full_names(data, name)
        return known[name]

    def _derived(
        self, name: str, full: str, text: str, known: dict[str, Any], variant: Scenario, cells: Ints
    ) -> Floats:
        limits = fields.quantity(variant, full)
        assert limits is not None
        where = ("derive", name)
        try:
            value = expressions.numbers(text, known)
        except InputError as error:
            raise self._places.error(where, f"derive.{name}: ", error) from None
        values = np.array(np.broadcast_to(np.rint(value) if limits.whole else value, (len(cells),)))
        inside = (values >= limits.low) & (values <= limits.high)
        if limits.unlimited:
            inside |= values == np.inf
        if not inside.all():
            i = int(np.flatnonzero(~inside)[0])
            what = f"derive.{name} = {values[i]:g} in cell {cells[i]} is out of range"
            remedy = f"expected {limits.allowed}; limit it with min(...) and max(...)"
            raise self._places.error(where, f"{what}; {remedy}")
        return values

    def _variants(self) -> tuple[tuple[dict[str, Any], str, Scenario], ...]:
        """Return settings, text and scenario of each combination of points that differ in more than
        numbers."""
        choices = [axis for axis in self.axes if axis.makes_variants]
        if math.prod(len(axis.labels) for axis in choices) > MAX_VARIANTS:
            count = math.prod(len(axis.labels) for axis in choices)
            remedy = f"expected at most {MAX_VARIANTS}; remove values, or use axes of numbers"
            raise self._places.error(("axes",), f"axes of words have {count} combinations; {remedy}")
        found = []
        for combination in product(*(range(len(axis.labels)) for axis in choices)):
            settings: dict[str, Any] = {}
            for axis, i in zip(choices, combination, strict=True):
                settings |= axis.settings[i]
            words = ", ".join(f"{a.name} = {a.labels[i]}" for a, i in zip(choices, combination, strict=True))
            scenario = self._unset.with_fields(settings, words)
            for axis in self.axes:
                for name, column in axis.columns.items():
                    settings[name] = shown(scenario, name, float(column[0]))
            settings |= self._derivable(scenario)
            found.append((settings, words, self._unset.with_fields(settings, words)))
        return tuple(found)

    def _derivable(self, scenario: Scenario) -> dict[str, Any]:
        """Return a placeholder number for every derived field that is not a number in the scenario."""
        numbers = {}
        for name in self.derive:
            with self._places.at("derive", name):
                limits = quantity(scenario, name)
                if limits is None:
                    raise InputError("is not a number; name a field that is one")
            if not isinstance(fields.value(scenario, full_name(scenario, name)), float):
                numbers[name] = limits.show(limits.low)
        return numbers

    def _inputs(self) -> tuple[Input, ...]:
        found: dict[str, dict[int, tuple[Distribution, bool]]] = {}
        for number, variant in enumerate(self.variants):
            for name, value in fields.flat(variant):
                if isinstance(value, Distribution):
                    limits = fields.quantity(variant, name)
                    whole = limits is not None and limits.whole
                    for each in _drawn_names(variant, name):
                        found.setdefault(each, {})[number] = value, whole
        if not found and not any(each.network.random_places for each in self.variants):
            remedy = "write a distribution such as {uniform: [1 ms, 40 ms]} in the scenario, or remove draw"
            raise self._places.error(("draw",), f"draw needs a random field, but there is none; {remedy}")
        return tuple(Input(name, i, of_variant) for i, (name, of_variant) in enumerate(found.items()))

    def _designed(self, draw: Mapping[str, Any]) -> Design:
        return Design(
            method=draw["method"], count=draw["count"], blocks=draw.get("blocks", 0),
            dimensions=len(self.inputs), seed=self.base.seed,
            groups=grouped([each.name for each in self.inputs])[1],
        )  # fmt: skip

    def _check_derive(self) -> None:
        """Check the expressions of derived fields."""
        for name, text in self.derive.items():
            with self._places.at("derive", name):
                expressions.check(text, [*FEATURES, *(axis.name for axis in self.axes)])
                if any(name in axis.columns for axis in self.axes):
                    raise InputError("is set by an axis already; remove one of them")

    def _check_numbers(self, number: int, settings: dict[str, Any], words: str) -> None:
        """Check combinations of the extremes of the numbers of a variant."""
        variant = self.variants[number]
        extremes = {
            name: sorted({float(column.min()), float(column.max())})
            for axis in self.axes
            for name, column in axis.columns.items()
        }
        for corner in islice(product(*extremes.values()), MAX_CORNERS):
            values = zip(extremes, corner, strict=True)
            self._unset.with_fields(
                settings | {name: shown(variant, name, value) for name, value in values}, words
            )

    def _check_derived(self) -> None:
        """Check derived numbers in every cell."""
        step = 1 << 16
        for first in range(0, self.n_cells if self.derive else 0, step):
            for _ in self.batches(np.arange(first, min(first + step, self.n_cells))):
                pass


@lru_cache(maxsize=4)
def sweep_of(definition: str) -> Sweep:
    """Return the sweep of a definition as JSON that a client has sent. The last few sweeps are cached."""
    data = json.loads(definition)
    congestion_files.trust(data)
    return Sweep.from_definition(data)


def _drawn_names(variant: Scenario, name: str) -> list[str]:
    """Return the names under which a field is drawn: a field below `each` is drawn for each hop or flow."""
    above, each, rest = name.partition(".each.")
    if not each or rest.partition(".")[0].isdecimal():
        return [name]
    owner = fields.value(variant, above)
    return [f"{above}.each.{k}.{rest}" for k in range(owner.most_each)]
