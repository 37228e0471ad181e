"""Import of topologies: formats, rates, delays, demands, and printed assumptions."""

import gzip

import numpy as np
import pytest
from typer.testing import CliRunner

import netcarlo
from netcarlo.cli.main import app
from netcarlo.networks.shared.topology import places, rates
from netcarlo.networks.shared.topology.read import read
from netcarlo.schema import rate_labels
from netcarlo.schema.notes import Note

GRAPHML = """<?xml version="1.0" encoding="utf-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
  <key attr.name="LinkSpeedRaw" attr.type="double" for="edge" id="s"/>
  <key attr.name="Longitude" attr.type="double" for="node" id="lo"/>
  <key attr.name="label" attr.type="string" for="node" id="n"/>
  <key attr.name="Latitude" attr.type="double" for="node" id="la"/>
  <key attr.name="LinkLabel" attr.type="string" for="edge" id="l"/>
  <graph edgedefault="undirected">
    <node id="0"><data key="n">Saint Älpha</data><data key="la">46.0</data><data key="lo">7.0</data></node>
    <node id="1"><data key="lo">7.0</data><data key="n">Bravo</data><data key="la">47.0</data></node>
    <node id="2"><data key="n">Bravo</data></node>
    <node id="3"><data key="n">Alone</data></node>
    <edge source="0" target="1"><data key="s">10000000.0</data></edge>
    <edge source="0" target="1"><data key="l">OC-3c</data></edge>
    <edge source="1" target="2"/>
    <edge source="2" target="2"/>
  </graph>
</graphml>
"""
"""A map with equal names, parallel links, a link without a rate, a loop, and a router without links."""

GML = """graph [
  directed 0
  node [ id 0 label "Köln" Longitude 6.96 Latitude 50.94 ]
  node [ id 1 label "Bonn" ]
  edge [ source 0 target 1 LinkLabel "2 x 2.5 Gbps" ]
  edge [ target 0 source 1 LinkLabel "< 10 Mbps" ]
]
"""

XML = """<?xml version="1.0" encoding="ISO-8859-1"?>
<network xmlns="http://sndlib.zib.de/network" version="1.0">
 <meta><unit>MBITPERSEC</unit></meta>
 <networkStructure>
  <nodes coordinatesType="geographical">
   <node id="A"><coordinates><x>7.0</x><y>46.0</y></coordinates></node>
   <node id="B"><coordinates><x>7.0</x><y>47.0</y></coordinates></node>
   <node id="C"><coordinates><x>7.0</x><y>48.0</y></coordinates></node>
   <node id="D"><coordinates><x>8.0</x><y>47.0</y></coordinates></node>
  </nodes>
  <links>
   <link id="1"><source>A</source><target>B</target>
    <preInstalledModule><capacity>10.0</capacity></preInstalledModule></link>
   <link id="2"><source>B</source><target>C</target><additionalModules>
    <addModule><capacity>5.0</capacity></addModule><addModule><capacity>50.0</capacity></addModule>
   </additionalModules></link>
   <link id="3"><source>D</source><target>B</target>
    <preInstalledModule><capacity>4.0</capacity></preInstalledModule></link>
  </links>
 </networkStructure>
 <demands>
  <demand id="1"><source>A</source><target>C</target><demandValue>2.0</demandValue></demand>
  <demand id="2"><source>A</source><target>B</target><demandValue>3.0</demandValue></demand>
  <demand id="3"><source>C</source><target>D</target><demandValue>1.0</demandValue></demand>
  <demand id="4"><source>D</source><target>D</target><demandValue>1.0</demandValue></demand>
 </demands>
</network>
"""

NATIVE = """?SNDlib native format; type: network; version: 1.0
META (
  granularity = day
  unit = MBITPERSEC
)
NODES (
  A ( 7.0 46.0 )
  B ( 7.0 47.0 )
  C ( 7.0 48.0 )
  D ( 8.0 47.0 )
)
LINKS (
  L1 ( A B ) 10.0 0.0 0.0 0.0 ( 40.0 1.0 80.0 2.0 )
  L2 ( B C ) 0.0 0.0 0.0 0.0 ( 5.0 1.0 50.0 3.0 )  # a comment
  L3 ( D B ) 4.0 0.0 0.0 0.0 ( )
)
DEMANDS (
  D1 ( A C ) 1 2.0 UNLIMITED
  D2 ( A B ) 1 3.0 UNLIMITED
  D3 ( C D ) 1 1.0 UNLIMITED
)
"""

JSON = """{"meta": {"unit": "MBITPERSEC"},
 "nodes": [{"id": "A", "longitude": 7, "latitude": 46}, {"latitude": 47, "id": "B", "longitude": 7},
           {"id": "C", "longitude": 7, "latitude": 48}, {"id": "D", "longitude": 8, "latitude": 47}],
 "links": [{"id": "1", "source": "A", "target": "B", "pre_installed_capacity": 10.0, "modules": []},
           {"id": "2", "source": "B", "target": "C",
            "modules": [{"module_capacity": 5.0}, {"module_capacity": 50.0}]},
           {"id": "3", "source": "D", "target": "B", "pre_installed_capacity": 4.0}],
 "demands": [{"source": "A", "target": "C", "demand_value": 2.0},
             {"source": "A", "target": "B", "demand_value": 3.0},
             {"source": "C", "target": "D", "demand_value": 1.0}]}
"""


@pytest.fixture
def imported(tmp_path):
    def run(text, *options, name="net", expect=0):
        file, out = tmp_path / name, tmp_path / f"{name}.yaml"
        file.write_bytes(text if isinstance(text, bytes) else text.encode())
        out.unlink(missing_ok=True)
        found = CliRunner().invoke(app, ["import", "topology", str(file), "--out", str(out), *options])
        assert found.exit_code == expect, found.output
        said = " ".join(found.output.split())
        return said, netcarlo.load_scenario(out) if expect == 0 else None

    return run


def ends_of(scenario):
    return [(*link.ends, link.rate, round(1e3 * link.delay, 3)) for link in scenario.shared.links]


def test_graphml_with_names_parallel_links_and_missing_values(imported):
    said, _ = imported(GRAPHML, expect=2)
    assert (
        "1 of 3 links has no rate, such as Bravo (1) to Bravo (2) (line 15); state it, such as --rate" in said
    )
    said, found = imported(GRAPHML, "--rate", "2 Mbit/s", "--delay", "3 ms")
    pairs = [("Saint Älpha", "Bravo (1)", 10e6, 0.556), ("Saint Älpha", "Bravo (1)", 155.52e6, 0.556),
             ("Bravo (1)", "Bravo (2)", 2e6, 3.0)]  # fmt: skip
    assert ends_of(found) == [each for a, b, *more in pairs for each in ((a, b, *more), (b, a, *more))]
    for text in (
        "GraphML; 3 routers, 6 links (4 in the file), 20 flows", "1 link from a router to itself left out",
        "1 router without links left out", "1 of 3 links without a rate", "2 Mbit/s (--rate)",
        "delay of 2 of 3 links: great-circle distance at 200,000 km/s".capitalize(), "3 ms (--delay)",
        "2 parallel links are kept", "20 TCP downloads", "2 routers share a name",
    ):  # fmt: skip
        assert text in said
    assert netcarlo.estimate(found, replications=2).by_link().index[0]
    _, found = imported(GRAPHML, "--rate", "2 Mbit/s", "--bundle", "--flows", "3", "--scale", "0.5")
    assert ends_of(found)[0] == ("Saint Älpha", "Bravo (1)", 82.76e6, 0.556)
    assert len(found.shared.links) == 4 and found.shared.flow_bounds == (3, 3)


def test_graphml_of_yed_and_with_directed_edges(imported):
    text = """<graphml xmlns="http://graphml.graphdrawing.org/xmlns" xmlns:y="http://www.yworks.com/xml/graphml">
 <key for="node" id="d6" yfiles.type="nodegraphics"/>
 <key attr.name="capacity" attr.type="string" for="edge" id="c"/>
 <graph edgedefault="directed">
  <node id="n0"><data key="d6"><y:ShapeNode><y:NodeLabel>Core 1</y:NodeLabel></y:ShapeNode></data></node>
  <node id="n1"><data key="d6"><y:ShapeNode><y:NodeLabel>Core 2</y:NodeLabel></y:ShapeNode></data></node>
  <node id="n2"/>
  <edge id="e0" source="n0" target="n1"><data key="c">1 Gbit/s</data></edge>
  <edge id="e1" source="n1" target="n2" directed="false"><data key="c">10G</data></edge>
 </graph></graphml>"""
    said, found = imported(text)
    assert sorted(ends_of(found)) == sorted([
        ("Core 1", "Core 2", 1e9, 1.0), ("Core 2", "Core 1", 1e9, 1.0), ("Core 2", "n2", 10e9, 1.0),
        ("n2", "Core 2", 10e9, 1.0),
    ])  # fmt: skip
    assert "1 link had no reverse link, such as Core 2 to Core 1: added with equal rate and delay" in said


def test_gml_with_labels_and_without_multigraph(imported):
    said, found = imported(GML, "--rate", "1 Gbit/s")
    assert {link.rate for link in found.shared.links} == {5e9, 1e9} and len(found.shared.links) == 4
    assert found.shared.routers == ["Köln", "Bonn"] and "(label '< 10 Mbps', line 6)" in said
    assert imported(GML.encode("latin-1"), "--rate", "1 Gbit/s")[1].shared.routers == ["Köln", "Bonn"]


@pytest.mark.parametrize("text", [XML, NATIVE, JSON, gzip.compress(XML.encode())])
def test_utilisations_of_sndlib_are_demands_over_capacities(imported, text):
    said, found = imported(text)
    assert (
        "3 demands" in said
        and "4 routers, 6 links" in said
        and "1 of 3 links without installed capacity: the first module" in said
    )
    by_hand = {"A-B": (2 + 3) / 10, "B-C": 2 / 5, "C-B": 1 / 5, "B-D": 1 / 4, "B-A": 0.0, "D-B": 0.0}
    for fidelity in ("packet", "fluid"):
        given = found.model_copy(update={"fidelity": fidelity})
        used = netcarlo.estimate(given).by_link()["utilisation"]
        assert used.index[0] == "A-B"
        for link, value in by_hand.items():
            assert used[link] == pytest.approx(value, rel=0.005, abs=1e-9), (fidelity, link)


def test_large_demands_are_written_as_fluid(imported):
    said, found = imported(JSON, "--unit", "Gbit/s")
    assert found.fidelity == "fluid" and "fidelity fluid" in said
    assert netcarlo.estimate(found).by_link()["utilisation"]["A-B"] == pytest.approx(0.5, rel=0.005)
    assert imported(JSON, "--unit", "Gbit/s", "--scale", "0.001")[1].fidelity == "packet"


@pytest.mark.parametrize(
    "text",
    [
        "from,to,rate,delay\nNew York,Oslo,10 Gbit/s,30 ms\nOslo,Bern,1 Gbit/s,7 ms\n",
        "delay_ms;Source;capacity [Mbit/s];Target\n30;New York;10000;Oslo\n7;Oslo;1000;Bern\n",
        "New York,Oslo,10 Gbit/s,30 ms\nOslo,Bern,1 Gbit/s,7 ms\n",
        "from,to,rate,delay_ms\nNew York,Oslo,10GE,30\nOslo,Bern,GigE,7\n",
        "from\tto\trate_gbps\tkm\nNew York\tOslo\t10\t6000\nOslo\tBern\t1\t1400\n",
        "# from one,to the other\nfrom,to,rate,delay\nNew York,Oslo,10 Gbit/s,30 ms\n"
        "Oslo,New York,10 Gbit/s,30 ms\n"
        "Oslo,Bern,1 Gbit/s,7 ms\nBern,Oslo,1 Gbit/s,7 ms\n",
    ],
)
def test_tables_of_links(imported, text):
    said, found = imported(text)
    assert sorted(ends_of(found)) == [
        ("Bern", "Oslo", 1e9, 7.0), ("New York", "Oslo", 10e9, 30.0), ("Oslo", "Bern", 1e9, 7.0),
        ("Oslo", "New York", 10e9, 30.0),
    ]  # fmt: skip
    assert "3 routers, 4 links" in said


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        ("from,to\nA,B\n", [], "net: 1 of 1 link has no rate, such as A to B (line 2); state it"),
        ("from,to,rate\nA,,1 Mbit/s\n", [], "net: line 2: a link needs two routers"),
        ("from,to,rate\nA,B,fast\n", [], "has in line 2 the value 'fast'"),
        ("x,y\nA,B\n", [], "has no columns with the two routers of a link"),
        ("from,to,rate\nA,A,1 Mbit/s\n", [], "has no links between two routers"),
        ("<graphml>\n<graph", [], "net: line 2: is not XML (unclosed token)"),
        ("<svg></svg>", [], "this is an image, not a topology"),
        ('{"a": 1}', [], "is JSON, but not a network of SNDlib. Supported: GraphML, GML"),
        ("graph [ node [ id 0 ] edge [ source 0 target 1 ] ]", [], "is not GML that can be read"),
        ("from,to,rate\nA,B,1 Mbit/s\n", ["--rate", "fast"], "--rate: "),
        ("from,to,rate\nA,B,1 Mbit/s\n", ["--unit", "apples"], "--unit apples is not a unit of rates"),
        ("from,to,rate\nA,B,1 Mbit/s\n", ["--scale", "0"], "--scale 0 is not a factor"),
        ("", [], "net: is empty; expected GraphML"),
        (XML.replace("10.0", "ten"), [], "net: line 12: 'ten' is not a number"),
        (
            NATIVE.replace("( B C ) 0.0", "( B C )"),
            [],
            "net: line 14: 'L2 ( B C ) 0.0 0.0 0.0 ( 5.0 1.0 50.0 3.' is not",
        ),
        (NATIVE.replace("1 3.0", "1 three"), [], "net: line 19: 'three' is not a number"),
        (GRAPHML.replace('"s">1', '"s">x1'), [], "is not GraphML that can be read"),
        (
            GML.replace('LinkLabel "2 x 2.5 Gbps"', "bandwidth 7"),
            [],
            "net: line 5: Köln to Bonn: bandwidth = 7",
        ),
    ],
)
def test_files_that_are_refused(imported, text, options, message):
    assert message in imported(text, *options, expect=2)[0]


def test_only_the_largest_part_of_a_map_is_used(imported):
    said, found = imported("from,to,rate\nA,B,1 Mbit/s\nB,C,1 Mbit/s\nX,Y,1 Mbit/s\n")
    assert found.shared.routers == ["A", "B", "C"]
    assert "2 parts are not connected: only the largest, of 3 routers, is used; 2 routers, 1 link and" in said


def test_a_long_chain_has_flows_between_near_routers(imported):
    rows = "".join(f"{k},{k + 1},10 Mbit/s,1 ms\n" for k in range(1, 400))
    said, found = imported("from,to,rate,delay\n" + rows, "--flows", "5")
    assert "between routers drawn once, at most 64 links apart" in said and len(found.shared.links) == 798
    assert netcarlo.estimate(found, replications=1).by_flow()["goodput_bps"].min() > 0


@pytest.mark.parametrize(
    ("label", "rate"),
    [
        ("OC-192c", 192 * 51.84e6), ("OC3", 155.52e6), ("STM-16", 16 * 155.52e6), ("STM-4x2", 8 * 155.52e6),
        ("155 Mbps OC-3", 155.52e6), ("OC192/STM64", 64 * 155.52e6), ("45 Mbps DS-3", 44.736e6),
        ("T3", 44.736e6), ("E1", 2.048e6), ("2.5 Gbps", 2.5e9), ("2,5 Gbit/s", 2.5e9), ("155 Mbps", 155e6),
        ("622Mb/s", 622e6), ("10G", 10e9), ("2.5 G", 2.5e9), ("100GbE", 100e9), ("10GE", 10e9), ("GigE", 1e9),
        ("GE", 1e9), ("Fast Ethernet", 100e6), ("10 Gigabit Ethernet", 10e9), ("10G Ethernet", 10e9),
        ("4x10G", 40e9), ("2 x 2.5 Gbps", 5e9), ("10GEx24", 240e9), ("8*GbE", 8e9), ("9600 bit/s", 9600),
        ("34-155 Mbps", None), ("< 10 Mbps", None), ("10/100 Mbps", None), ("less than 100 Mbps", None),
        ("OC3 and below/STM1", None), ("N*10Gbit/s", None), ("10 Gbps and 1 Gbps", None),
        ("155Mbs/1Gbps", None), ("10 GB/s", None), ("802.11b", None), ("100 m", None), ("Fibre", None),
        ("Completion 2007-2008", None), ("Leased 3 years", None), ("TAT-14", None), ("", None),
    ],
)  # fmt: skip
def test_rates_in_labels(label, rate):
    assert rate_labels.of_text(label) == (None if rate is None else pytest.approx(rate))


def test_rates_in_attributes():
    assert rates.of_attributes({"LinkSpeed": "10", "LinkSpeedUnits": "G"}, unit="") == (10e9, "")
    assert rates.of_attributes({"bandwidth_mbps": 7}, unit="") == (7e6, "")
    assert rates.of_attributes({"capacity": "7"}, unit="Gbit/s") == (7e9, "")
    assert rates.of_attributes({"capacity": "nan", "label": "OC-1"}, unit="") == (51.84e6, "")
    with pytest.raises(netcarlo.InputError, match="capacity = 7 of a link has no unit"):
        rates.of_attributes({"capacity": 7}, unit="")


def test_distances_on_the_globe():
    a = places.Position(46.0, 7.0)
    assert places.distance_km(a, places.Position(47.0, 7.0)) == pytest.approx(np.pi * places.EARTH_KM / 180)
    assert places.distance_km(places.Position(0, 0), places.Position(0, 180)) == pytest.approx(
        np.pi * places.EARTH_KM
    )
    assert places.delay_of({"length": "1000"}) == pytest.approx(5e-3)
    assert places.delay_of({"delay": "2 ms"}) == 2e-3 and places.delay_of({"delay_ms": 3}) == 3e-3
    assert places.position({"lat": "91", "lon": 0}) is None and places.position({"x": 1, "y": 2}) is None


def test_the_format_is_told_by_the_content(tmp_path):
    kinds = {"GraphML": GRAPHML, "GML": GML, "SNDlib XML": XML, "SNDlib native": NATIVE, "SNDlib JSON": JSON,
             "table of links": "from,to,rate\nA,B,1 Mbit/s\n"}  # fmt: skip
    for kind, text in kinds.items():
        (tmp_path / "file").write_text(text, encoding="utf-8")
        assert read(tmp_path / "file")[0] == kind


LINKS = """\
name: case
duration: 2 s
replications: 1
transport: {protocol: newreno, window: 64}
shared:
  links: links.csv
  flows: [{source: Oslo, sink: New York}]
"""


def estimate(folder, links):
    (folder / "case.yaml").write_text(LINKS)
    (folder / "links.csv").write_text(links)
    return CliRunner().invoke(app, ["estimate", str(folder / "case.yaml")])


def test_links_in_a_file(tmp_path):
    found = estimate(tmp_path, "from,to,capacity_mbps,km,cost\nOslo,Bern,10,1400,7\nBern,New York,5,6200,7\n")
    assert found.exit_code == 0 and "Busiest link: Bern-New York, 8" in found.output
    with pytest.warns(Note, match=r"links\.csv: 4 links; columns left out: cost"):
        given = netcarlo.load_scenario(tmp_path / "case.yaml")
    assert ends_of(given)[0] == ("Oslo", "Bern", 10e6, 7.0) and len(given.shared.links) == 4


@pytest.mark.parametrize(
    ("links", "message"),
    [
        (
            "from,to,rate,delay\nOslo,Bern,10 Mbit/s,2 ms\n\nBern,New York,50 bit/s,2 ms\n",
            "links.csv, line 4: shared.links.2.rate = '50 bit/s' is below the limit",
        ),
        (
            "from,to,rate,delay\nOslo,Bern,10 Mbit/s,2 ms\nBern,Bern,10 Mbit/s,2 ms\n",
            "links.csv, line 3: shared.links.2.ends are both Bern",
        ),
        ("from,to,rate,delay\nOslo,Bern,,2 ms\n", "links.csv: line 2: Oslo to Bern has no rate"),
        ("from,to,rate,delay\nOslo,,1 Mbit/s,2 ms\n", "links.csv: line 2: a link needs two routers"),
        ("from,to,rate,delay\nOslo,Bern,1,2 ms\n", "links.csv: has in line 2 the value '1', which"),
        (GRAPHML, "links.csv is a topology, not a table of links; run netcarlo import topology"),
        (GML, "links.csv is a topology, not a table of links; run netcarlo import topology"),
    ],
)  # fmt: skip
def test_faults_in_a_file_of_links_name_file_and_line(tmp_path, links, message):
    found = estimate(tmp_path, links)
    assert found.exit_code == 2 and message in found.output
    assert "case.yaml:6: " in found.output


def test_a_fault_in_a_file_of_flows_names_its_line(tmp_path):
    found = estimate(tmp_path, "from,to,rate,delay\nOslo,New York,10 Mbit/s,2 ms\n")
    assert found.exit_code == 0
    text = LINKS.replace("[{source: Oslo, sink: New York}]", "flows.csv")
    (tmp_path / "case.yaml").write_text(text)
    (tmp_path / "flows.csv").write_text("source,sink,bytes\nOslo,New York,1000\nOslo,Osla,1000\n")
    found = CliRunner().invoke(app, ["estimate", str(tmp_path / "case.yaml")])
    assert found.exit_code == 2
    assert "flows.csv, line 3: shared.flows.1.sink = Osla is not a router" in found.output


@pytest.mark.parametrize("text", [GRAPHML, GML, XML, NATIVE, JSON])
def test_a_topology_is_recognised_where_a_scenario_is_expected(tmp_path, text):
    (tmp_path / "map").write_text(text)
    found = CliRunner().invoke(app, ["estimate", str(tmp_path / "map")])
    assert found.exit_code == 2
    assert " is a topology" in found.output and "netcarlo import topology" in found.output
