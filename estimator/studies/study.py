"""Published study as data: cells, numbers, metrics, claims, layout of the page, and known differences.

A study is a folder: `study.yaml` (`Description`), `published.csv` (a row for each published number) and
scenarios. Metrics and claims that need code are in its `claims.py`; for the studies of `configs/studies/`, in
the package of `netcarlo.studies` with the same name.
"""

import os
import re
from collections.abc import Iterator, Mapping
from functools import cached_property
from importlib import resources
from itertools import product
from pathlib import Path
from typing import Any

from netcarlo.errors import Faults, InputError, closest, suggest
from netcarlo.scenario import Scenario, locate_control
from netcarlo.schema import kinds, trusted
from netcarlo.schema.document import Document, read_yaml
from netcarlo.schema.names import with_values
from netcarlo.studies.description import Description
from netcarlo.studies.published import Published, read_published
from netcarlo.studies.selection import Value, several


class Study:
    """Folder of a study, read and checked."""

    def __init__(self, folder: Path, *, package: str = "") -> None:
        """Read a folder. `package` is the package of the study's code, for those that netcarlo includes."""
        self.name = folder.resolve().name
        self.folder = folder
        self.package = package
        self._documents: dict[str, Document] = {}
        self.document = read_yaml(folder / "study.yaml")
        faults = Faults()
        with faults:
            self.description = Description.check(self.document.data, document=self.document)
        if faults.lines:  # report those of the other file as well
            columns = self.document.data.get("conditions")
            names = columns if isinstance(columns, dict) else {}
            faults.lines += read_published(folder / "published.csv", names, {})[1]
        faults.refuse()

    @cached_property
    def published(self) -> list[Published]:
        """Published numbers in the order of the file. Raises InputError with a line for each fault."""
        found, faults = self.readable
        if faults:
            raise InputError(*faults)
        return [number for _, number in found]

    @cached_property
    def readable(self) -> tuple[list[tuple[int, Published]], list[str]]:
        """Published numbers with their lines in the file, and the faults of other lines."""
        units = {name: measure.unit for name, measure in self.description.measures.items()}
        return read_published(self.folder / "published.csv", self.description.conditions, units)

    def scenario(
        self, conditions: Mapping[str, Value], *, seed: int, fields: Mapping[str, str] | None = None
    ) -> Scenario:
        """Return the scenario of a cell: its file with the fields of its conditions and `fields` set.

        Fields are set before the scenario is checked, so that each protocol has its own defaults.
        """
        document = self._document(self.description.scenario.format(**conditions))
        values: dict[str, Any] = {"seed": seed}
        for column, condition in self.description.conditions.items():
            values |= condition.fields(conditions[column], conditions)
        data = with_values(document.data, {**values, **(fields or {})})
        locate_control(data, Path(document.source))
        return Scenario.check(data, document=document)

    def fill(self, text: str) -> str:
        """Replace each `{field}` in a text by its value in the scenario; `{file.yaml: field}` selects a
        scenario."""

        def written(match: re.Match[str]) -> str:
            at: Any = self._document(match[1] or self.description.scenario).data
            for part in match[2].split("."):
                at = at[int(part) if part.isdecimal() else part]
            return str(at)

        return re.sub(r"\{(?:(\w+\.yaml): )?([\w.]+)\}", written, text)

    def _document(self, name: str) -> Document:
        if name not in self._documents:
            path = self.folder / name
            trusted.check(path, self.folder)
            self._documents[name] = kinds.read(path, kinds.SCENARIO)
        return self._documents[name]

    def scenario_files(self) -> list[Path]:
        """Return the scenario files of the study."""
        return sorted(path for path in self.folder.glob("*.yaml") if path.name != "study.yaml")

    def cells(self) -> Iterator[dict[str, Value]]:
        """Yield the distinct sets of conditions to simulate: those with a value for every condition."""
        seen = []
        numbers = (number.conditions for _, number in self.readable[0])
        for conditions in [*numbers, *self._further()]:
            if len(conditions) == len(self.description.conditions) and conditions not in seen:
                seen.append(conditions)
                yield conditions

    def _further(self) -> Iterator[dict[str, Value]]:
        names = list(self.description.conditions)
        for where in self.description.cells:
            for combination in product(*(several(where[name]) for name in names)):
                yield dict(zip(names, combination, strict=True))


def _folder() -> Path:
    return Path(str(resources.files("netcarlo.configs"))) / "studies"


def names() -> list[str]:
    """Return the names of the studies that netcarlo includes."""
    return sorted(path.parent.name for path in _folder().glob("*/study.yaml"))


def load(name: str | Path) -> Study:
    """Return a study by its name, or by its folder (or the `study.yaml` in it).

    Raises InputError, with the nearest known name if there is no such study.
    """
    if name in names():
        return Study(_folder() / name, package=f"netcarlo.studies.{name}")
    path = Path(name)
    if os.path.isfile(path) and path.name == "study.yaml":
        path = path.parent
    if os.path.isfile(path / "study.yaml"):
        included = path.resolve().parent == _folder().resolve()
        return load(path.resolve().name) if included else Study(path)
    kinds.refuse(path, kinds.STUDY)
    if os.path.isdir(path):
        raise InputError(f"{path}: has no study.yaml; write one with: netcarlo new study DIR")
    folder = "" if closest(str(name), names()) else ", or the folder of your own"
    raise InputError(f"study '{name}' does not exist; {suggest(str(name), names())}{folder}")
