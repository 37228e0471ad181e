"""Lists of flows in files."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import netcarlo
from netcarlo.errors import InputError
from netcarlo.schema import flow_list
from netcarlo.schema.notes import Note

SCENARIO = """\
transport: {protocol: linux}
duration: 3 s
shared:
  dumbbell: {rate: 10 Mbit/s, delay: 2 ms}
  flows: flows.txt
"""
FIRST = {"source": 0, "sink": 1, "bytes": "200000 B", "start": "0.1 s"}
SECOND = {"source": 1, "sink": 0, "bytes": "50000 B", "start": "0.2 s"}
FORMATS = {
    "HPCC": "2\n0 1 3 100 200000 0.1\n1 0 3 100 50000 0.2\n",
    "without a count": "0 1 3 100 200000 0.1\n1 0 3 100 50000 0.2\n",
    "four columns": "0,1,200000,0.1\n1,0,50000,0.2\n",
    "header": "source,sink,bytes,start\n0,1,200000,0.1\n1,0,50000,0.2\n",
    "units": "start_ms;dst;src;size [kB];port\n100;1;0;200;80\n200;0;1;50;80\n",
    "units in cells": "src,dst,size,start\n0,1,200 kB,100 ms\n1,0,50 kB,200 ms\n",
    "comments": "\ufeff# flows\n0\t1\t200000\t0.1\n\n1\t0\t50000\t0.2\n",
    "count below the lines": "2\n0 1 3 100 200000 0.1\n1 0 3 100 50000 0.2\n1 0 3 100 7 0.3\n",
}


@pytest.mark.parametrize("text", FORMATS.values(), ids=FORMATS.keys())
def test_formats_of_lists(text: str) -> None:
    found = flow_list.read(text)
    assert found.flows == [FIRST, SECOND]
    assert found.summary.startswith("2 flows, 250000 B in total, starts from 0.1 to 0.2 s")


def test_a_scenario_names_a_list(tmp_path) -> None:
    (tmp_path / "flows.txt").write_text(FORMATS["HPCC"])
    (tmp_path / "case.yaml").write_text(SCENARIO)
    columns = r"columns read as source, sink, \(left out\), \(left out\), bytes, start"
    with pytest.warns(Note, match=rf"flows.txt: 2 flows, .*{columns}"):
        scenario = netcarlo.load_scenario(tmp_path / "case.yaml")
    assert [(flow.source, flow.sink, flow.bytes, flow.start) for flow in scenario.shared.flows] == [
        (0, 1, 200e3, 0.1), (1, 0, 50e3, 0.2)
    ]  # fmt: skip
    (tmp_path / "flows.txt").unlink()
    assert type(scenario).check(scenario.model_dump()) == scenario
    with pytest.raises(InputError, match=r"case.yaml:5: shared.flows: .*flows.txt: no such file"):
        netcarlo.load_scenario(tmp_path / "case.yaml")
    (tmp_path / "case.yaml").write_text(SCENARIO.replace("flows.txt", "../flows.txt"))
    with pytest.raises(InputError, match="is outside the folder"):
        netcarlo.load_scenario(tmp_path / "case.yaml")


def test_routers_may_have_names() -> None:
    found = flow_list.read("from;to;size_MB\nBerlin;Hamburg;2\nBerlin;3;1\n").flows
    assert [(flow["source"], flow["sink"]) for flow in found] == [("Berlin", "Hamburg"), ("Berlin", 3)]


def test_other_columns_of_a_flow_are_kept() -> None:
    text = "src,dst,packets,class,protocol,note\n0,1,7,rpc,sack,x\n"
    found = flow_list.read(text)
    assert found.flows == [{"source": 0, "sink": 1, "packets": 7, "class": "rpc", "protocol": "sack"}]
    assert found.summary.endswith("left out: note")


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("3\n0 1 200 0.1\n1 0 50 0.2\n", "says that it has 3 flows and has 2"),
        ("0 1 2 3 4\n", "has 5 columns without a header"),
        ("source,sink\n0,1\n", "has the columns 'source,sink'"),
        ("src,dst,size\n0,1,20\n0,2,x\n", "in line 3 the value 'x"),
        ("0 1 200 0.1\n0 1 200\n", "has 3 values in line 2; expected 4"),
        ("0 1 200 -0.1\n", "in line 1 the start '-0.1'; expected a number of 0 or more"),
        ("0 1.5 200 0.1\n", "in line 1 the sink '1.5'; expected a whole number"),
        ("src,from,dst,size\n0,0,1,20\n", r"several columns for the source \(src, from\)"),
        ("# none\n", "has no flows"),
    ],
)
def test_faults_name_the_line(text: str, complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        flow_list.read(text)


ROUTER = st.integers(0, 99)
FLOWS = st.lists(st.tuples(ROUTER, ROUTER, st.integers(1, 10**9), st.integers(0, 10**6)), min_size=1)


@settings(max_examples=50, deadline=None)
@given(FLOWS, st.booleans(), st.permutations(range(4)))
def test_columns_may_have_any_order(flows: list, count: bool, order: list) -> None:
    names = ("from", "to", "bytes", "start_us")
    lines = [",".join(str(row[k]) for k in order) for row in [names, *flows]]
    found = flow_list.read("\n".join([*([str(len(flows))] * count), *lines]))
    expected = [(source, sink, f"{size} B", pytest.approx(at / 1e6)) for source, sink, size, at in flows]
    read = [(f["source"], f["sink"], f["bytes"], float(f["start"][:-2])) for f in found.flows]
    assert read == expected
