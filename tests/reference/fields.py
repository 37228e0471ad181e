"""The page of all fields of all files that users write."""

import re
from collections import defaultdict
from collections.abc import Iterator
from typing import NamedTuple

from netcarlo.estimation.reference import Mapping
from netcarlo.planning.file import PlanSpec
from netcarlo.scenario import Scenario
from netcarlo.schema import meanings
from netcarlo.schema.record import Record
from netcarlo.studies.study import Description
from netcarlo.sweeps.space.file import SweepSpec
from tests.reference.forms import Titles, default, form, records
from tests.reference.markdown import KNOWN, page, slug, table

FILES: dict[str, type[Record]] = {
    "Scenarios": Scenario, "Sweeps": SweepSpec, "Plans": PlanSpec, "Studies": Description, "Mappings": Mapping
}  # fmt: skip
NAMES = {
    "CoDel": "CoDel", "FqCoDel": "FQ-CoDel", "Pie": "PIE", "Red": "RED", "Tcp": "TCP", "Sctp": "SCTP",
    "Udp": "UDP", "GaussMarkov": "Gauss-Markov", "Linux26": "Linux 2.6", "OnOff": "On and off",
}  # fmt: skip
INTRODUCTION = """\
Every field of every file that netcarlo reads, with its unit, its default, what is allowed, and its meaning.

* **Unit.** A value is written with a unit of the kind that is named: `200 ms` for s, `5 Mbit/s` for bit/s,
  `1500 B` for B, `2 %` for a share. Packets, shares and numbers may be bare. Wherever a value has a unit it
  may be a [distribution](../howto/random-quantities.md), unless it is *not random*.
* **Default.** With *none* nothing is given, and the meaning says what then holds; *derived* follows from
  other fields.
* **Places.** `N` is the number of an item, `NAME` its name; `hops` at the top of a scenario is short for one
  of `paths`.

For editors: [`netcarlo schema`](../howto/start-from-a-file.md). What is measured: [outcomes](outcomes.md).
"""


class Entry(NamedTuple):
    """A row of a table."""

    name: str
    unit: str
    default: str
    allowed: str
    meaning: str


HEAD = ("field", *Entry._fields[1:])


class Section(NamedTuple):
    """A record, where it stands in a file, and the title of the one whose fields it has, too."""

    title: str
    record: type[Record]
    places: list[str]
    entries: list[Entry]
    base: str


def sections(top: type[Record]) -> list[Section]:
    """The records of a kind of file in the order in which they are met."""
    places: dict[type[Record], list[str]] = defaultdict(list)

    def meet(record: type[Record], at: str) -> None:
        known = record in places
        places[record].append(at)
        if not known:
            for name, field in record.model_fields.items():
                for inner, item in records(field.annotation):
                    meet(inner, f"{at}.{name}{item}".lstrip("."))

    meet(top, "")
    words = [_words(record) for record in places]
    titles = {
        record: word if words.count(word) == 1 else f"{_family(record)} {word.lower()}"
        for record, word in zip(places, words, strict=True)
    }
    found = []
    for record, where in places.items():
        base = next((above for above in record.__mro__[1:] if above in places), None)
        entries = list(_entries(record, titles))
        if base:
            others = list(_entries(base, titles))
            entries = [entry for entry in entries if entry not in others]
        same = titles[base] if base else ""
        found.append(Section(titles[record], record, list(dict.fromkeys(where)), entries, same))
    return found


def fields_page() -> str:
    """The page."""
    lines = ["# Fields", "", KNOWN, "", INTRODUCTION]
    shown: set[type[Record]] = set()
    for heading, top in FILES.items():
        lines += [f"## {heading}", ""]
        for section in sections(top):
            if section.record not in shown:
                lines += _section(section, top)
                shown.add(section.record)
    return page(lines)


def _section(section: Section, top: type[Record]) -> list[str]:
    text = re.sub(r"[,;] see `\w+`", "", " ".join((section.record.__doc__ or "").split()))
    if section.record is top:
        return [text, "", *table(HEAD, _rows(section))]
    places = ", ".join(f"`{place}`" for place in section.places[:3])
    more = " and elsewhere" if len(section.places) > 3 else ""
    base = f"[{section.base}](#{slug(section.base)})"
    same = f" It has the fields of {base}; these differ:" if section.base else ""
    head = [f"### {section.title}", "", f"At {places}{more}. {text}{same}", ""]
    return [*head, *table(HEAD, _rows(section))]


def _rows(section: Section) -> Iterator[tuple[str, ...]]:
    return ((f"`{entry.name}`", *entry[1:]) for entry in section.entries)


def _entries(record: type[Record], titles: Titles) -> Iterator[Entry]:
    told = meanings.of(record)
    for name, field in record.model_fields.items():
        unit, allowed = form(field, titles)
        if words := record.words.get(name):
            allowed += f"; or {', '.join(f'`{word}`' for word in words)}"
        yield Entry(name, unit, default(record, name), allowed, told.get(name, ""))


def _words(record: type[Record]) -> str:
    """The title of a record: its name in words."""
    name = record.__name__.removesuffix("Spec").removesuffix("Network")
    return NAMES.get(name) or re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).capitalize()


def _family(record: type[Record]) -> str:
    return record.__module__.split(".")[2].capitalize()
