"""Generated pages of fields and outcomes, and schemas: complete, and up to date with the declarations."""

import re

import pytest

import netcarlo
from netcarlo.cli.schema import made
from netcarlo.networks import classes
from netcarlo.simulation.outcomes import OUTCOMES
from tests.reference import MADE, ROOT
from tests.reference.fields import FILES, sections
from tests.reference.outcomes import unit


@pytest.mark.parametrize("name", MADE)
def test_it_is_up_to_date(name: str) -> None:
    assert (ROOT / name).read_text() == MADE[name](), "run python -m tests.reference"


@pytest.mark.parametrize("kind", FILES)
def test_every_field_has_unit_default_range_and_meaning(kind: str) -> None:
    found = sections(FILES[kind])
    lacking = [(s.title, e.name) for s in found for e in s.entries if not all(part.strip() for part in e)]
    assert lacking == [], "write a docstring below the field"
    assert all(section.record.__doc__ for section in found)


def test_titles_are_of_one_record_each() -> None:
    titles: dict[str, set[type]] = {}
    for top in FILES.values():
        for section in sections(top):
            if section.record is not top:
                titles.setdefault(section.title, set()).add(section.record)
    assert [title for title, records in titles.items() if len(records) > 1] == []


def test_every_outcome_has_unit_and_meaning() -> None:
    page = (ROOT / "docs/reference/outcomes.md").read_text()
    for outcome in (*OUTCOMES, *classes.CLASS_OUTCOMES):
        assert outcome.meaning and unit(outcome)
        assert f"{outcome.name}` | {unit(outcome)} | {outcome.better or ''} | {outcome.meaning}" in page


def test_editors_are_told_the_same() -> None:
    properties = made("scenario")["$defs"]["HopSpec"]["properties"]
    assert properties["rate"]["description"].startswith("Bit rate. Omit it if a `trace` has rates. A rate")
    meaning = "Properties that differ in the direction of acknowledgements."
    assert properties["reverse"]["description"] == meaning
    assert [name for name, field in properties.items() if "description" not in field] == []


def test_all_public_names_are_told() -> None:
    page = (ROOT / "docs/reference/api.md").read_text()
    assert sorted(re.findall(r"auto\w+:: netcarlo\.(\w+)", page)) == sorted(netcarlo.__all__)
