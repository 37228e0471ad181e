"""Labels of fields agree with the file: its path, counted from 0, or the class of the flows."""

import re

import pytest

from netcarlo.live.controls import controls
from netcarlo.reports.parts import scales
from netcarlo.scenario import Scenario
from netcarlo.schema import fields
from netcarlo.schema.document import Document

HOP = {"rate": "1 Mbit/s", "delay": "1 ms"}
OFFICE = {
    "duration": "4 s", "transport": {"protocol": "newreno"},
    "shared": {
        "dumbbell": {"rate": "50 Mbit/s", "delay": "10 ms", "queue": 100},
        "flows": [
            {"count": 20, "each": {}},
            {"count": 4, "each": {"class": "video", "udp": {"rate": "4 Mbit/s"}}},
            {"count": 2, "each": {"class": "call", "udp": {"rate": "1 Mbit/s"}}},
            {"count": 2, "each": {"class": "call", "udp": {"rate": "2 Mbit/s"}}},
        ],
    },
}  # fmt: skip


@pytest.mark.parametrize(
    ("field", "said"),
    [
        ("shared.flows.0.count", "shared.flows.0 number of flows"),  # flows without a class
        ("shared.flows.1.count", "video number of flows"),
        ("shared.flows.1.each.udp.rate", "video udp rate"),
        ("shared.flows.2.count", "shared.flows.2 number of flows"),  # two flows share the class
        ("shared.dumbbell.rate", "dumbbell rate"),
    ],
)
def test_flows_are_called_by_their_class(field: str, said: str) -> None:
    assert scales.name_of(field, Scenario.check(OFFICE)) == said


def test_sliders_of_the_page() -> None:
    """The slider `videos` of a page changes flows 1 of the file."""
    labels = {c.field: c.label for c in controls(Document(OFFICE, "", {}), Scenario.check(OFFICE))}
    assert labels["shared.flows.1.count"] == "video number of flows"
    assert labels["shared.flows.0.count"] == "shared.flows.0 number of flows"


@pytest.mark.parametrize(
    "data",
    [
        OFFICE,
        {"duration": "4 s", "transport": {"protocol": "sctp"},
         "paths": [{"hops": [HOP, HOP]}, {"hops": [HOP]}]},
        {"duration": "4 s", "transport": {"protocol": "newreno"},
         "wireless": {"cell": {"stations": 2}, "rate": "54 Mbit/s",
                      "flows": [{"each": {}}, {"count": 2, "each": {}}]}},
    ],
)  # fmt: skip
def test_numbers_in_labels_are_those_of_the_file(data: dict) -> None:
    """Every number in the label of a field is one of its path, for all fields."""
    for name, _ in fields.flat(Scenario.check(data)):
        if re.search(r"\.\d", name):
            numbers = re.findall(r"\d+", scales.name_of(name))
            assert numbers == re.findall(r"(?<=\.)\d+", name.removeprefix("paths.0.")), name
