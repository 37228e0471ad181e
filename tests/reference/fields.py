"""Reference pages of the fields of all input files."""

import re
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from netcarlo.estimation.reference import Mapping
from netcarlo.planning.description import PlanSpec
from netcarlo.scenario import Scenario
from netcarlo.schema import meanings
from netcarlo.schema.record import Record
from netcarlo.studies.description import Description
from netcarlo.sweeps.space.file import SweepSpec
from tests.reference.forms import Titles, default, form, records
from tests.reference.markdown import KNOWN, page, slug, table

FILES: dict[str, type[Record]] = {
    "Scenarios": Scenario, "Sweeps": SweepSpec, "Plans": PlanSpec, "Studies": Description, "Mappings": Mapping
}  # fmt: skip
PAGES = {
    "scenarios": "Scenarios", "transports": "Transports", "paths": "Paths and mobile hosts",
    "shared": "Shared links", "wireless": "802.11", "adhoc": "Ad hoc networks", "sweeps": "Sweeps",
    "plans": "Plans", "studies": "Studies", "mappings": "Mappings",
}  # fmt: skip
"""Titles of the pages of fields, by the suffix of their names."""
PARTS = {
    "transport": "transports", "mobility": "paths", "paths": "paths", "shared": "shared",
    "wireless": "wireless", "adhoc": "adhoc",
}  # fmt: skip
"""Pages of the parts of a scenario."""
NAMES = {
    "CoDel": "CoDel", "FqCoDel": "FQ-CoDel", "Pie": "PIE", "Red": "RED", "Tcp": "TCP", "Sctp": "SCTP",
    "Udp": "UDP", "GaussMarkov": "Gauss-Markov", "Linux26": "Linux 2.6", "OnOff": "On and off",
    "Edca": "EDCA", "Category": "Access category",
}  # fmt: skip
INTRODUCTION = """\
Every field of every file that netcarlo reads, with its unit, its default, what is allowed, and its meaning.

* **Unit.** A value is written with a unit of the kind that is named: `200 ms` for s, `5 Mbit/s` for bit/s,
  `1500 B` for B, `2 %` for a share. Packets, shares and numbers may be bare. Wherever a value has a unit it
  may be a [distribution](../howto/random-quantities.md), unless it is *not random*.
* **Default.** *none*: the field is not set, and its meaning says what then holds; *derived*: the value
  follows from other fields.
* **Places.** `N` is the number of an item, `NAME` its name; `hops` at the top of a scenario is short for one
  of `paths`.

For editors: [`netcarlo schema`](../howto/start-from-a-file.md). What is measured: [outcomes](outcomes.md).
"""


class Entry(NamedTuple):
    """Row of a table."""

    name: str
    unit: str
    default: str
    allowed: str
    meaning: str


HEAD = ("field", *Entry._fields[1:])


class Section(NamedTuple):
    """Record, its place in a file, and the title of a record with the same fields."""

    title: str
    record: type[Record]
    places: list[str]
    entries: list[Entry]
    base: str


def sections(top: type[Record]) -> list[Section]:
    """Return the records of a kind of file, in the order of their appearance."""
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


@cache
def pages() -> dict[str, list[tuple[Section, type[Record]]]]:
    """Return the sections of each page, with the record of their file; each record is shown once."""
    shown: set[type[Record]] = set()
    found: dict[str, list[tuple[Section, type[Record]]]] = {name: [] for name in PAGES}
    for heading, top in FILES.items():
        for section in sections(top):
            if section.record not in shown:
                place = section.places[0].split(".")[0]
                name = PARTS.get(place, "scenarios") if top is Scenario else heading.lower()
                found[name].append((section, top))
                shown.add(section.record)
    return found


def fields_page() -> str:
    """Return the page that explains the tables and lists the sections of the others."""
    lines = ["# Fields", "", KNOWN, "", INTRODUCTION, "| page | sections |", "|---|---|"]
    for name, found in pages().items():
        titles = [section.title for section, top in found if section.record is not top]
        links = [f"[{title}]({_file(name)}#{slug(title)})" for title in titles]
        lines.append(f"| [{PAGES[name]}]({_file(name)}) | {', '.join(links)} |")
    return page([*lines, "", "```{toctree}", ":hidden:", "", *(_file(name)[:-3] for name in PAGES), "```"])


def part_page(name: str) -> str:
    """Return the page of a part of the fields; links lead to the pages that contain the linked sections."""
    lines = [f"# Fields: {PAGES[name][0].lower() + PAGES[name][1:]}", "", KNOWN, ""]
    lines += ["[What unit, default and places mean](fields.md).", ""]
    for section, top in pages()[name]:
        lines += _section(section, top)
    where = {slug(section.title): _file(other) for other in PAGES for section, _ in pages()[other]}
    where |= {slug(section.title): "" for section, _ in pages()[name]}
    return re.sub(r"\]\(#([\w-]+)\)", lambda link: f"]({where[link[1]]}#{link[1]})", page(lines))


def _file(name: str) -> str:
    return f"fields-{name}.md"


def _section(section: Section, top: type[Record]) -> list[str]:
    text = re.sub(r"[,;] see `\w+`", "", " ".join((section.record.__doc__ or "").split()))
    if section.record is top:
        return [text, "", *table(HEAD, _rows(section))]
    places = ", ".join(f"`{place}`" for place in section.places[:3])
    more = " and elsewhere" if len(section.places) > 3 else ""
    base = f"[{section.base}](#{slug(section.base)})"
    same = f" It has the fields of {base}; these differ:" if section.base else ""
    head = [f"## {section.title}", "", f"At {places}{more}. {text}{same}", ""]
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
    """Return the title of a record: its name in words."""
    name = record.__name__.removesuffix("Spec").removesuffix("Network")
    return NAMES.get(name) or re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).capitalize()


def _family(record: type[Record]) -> str:
    return record.__module__.split(".")[2].capitalize()
