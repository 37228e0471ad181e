import json
import re
import shutil
from pathlib import Path

import pytest
import yaml

from netcarlo import simulate, trace, trust
from netcarlo.errors import InputError
from netcarlo.networks.registry import BY_KEY
from netcarlo.scenario import Scenario, load_scenario
from netcarlo.schema.distributions import Distribution
from netcarlo.schema.names import with_values
from netcarlo.simulation.launches import model_of
from netcarlo.sweeps.space.file import make_sweep
from netcarlo.sweeps.space.identity import key
from netcarlo.transport.capabilities import PROTOCOLS, allowed

PLAIN = """\
name: plain
duration: 10 s
transport:
  protocol: newreno
  window: 45 packets
hops:
  - rate: 0.5 Mbit/s
    delay: 200 ms
    loss: 1 %
"""


@pytest.fixture
def plain(tmp_path):
    path = tmp_path / "plain.yaml"
    path.write_text(PLAIN)
    return path


def test_a_scenario_holds_si_numbers_and_the_defaults_of_ns2(plain):
    scenario = load_scenario(plain)
    hop = scenario.paths[0].hops[0]
    assert (hop.rate, hop.delay, hop.loss, hop.queue) == (500_000.0, 0.2, 0.01, 50.0)
    tcp = scenario.transport
    assert (tcp.window, tcp.payload, tcp.header, tcp.ack, tcp.handshake) == (45.0, 1460.0, 40.0, 40.0, 40.0)
    assert (tcp.initial_window, tcp.tick, tcp.min_rto, tcp.max_rto, tcp.initial_rto) == (
        2.0,
        0.01,
        0.2,
        60.0,
        3.0,
    )
    assert (scenario.seed, scenario.replications, scenario.sample_interval) == (1, 1000, 0.1)


@pytest.mark.parametrize(
    ("rules", "values"),
    [
        ("ns2-2.29", (2936.0, 2936.0, False, False, 4.0)),
        ("ns2-2.35", (4380.0, 5872.0, True, True, 3.0)),
    ],
)
def test_sctp_rules_fill_their_defaults_and_yield_to_what_is_given(plain, rules, values):
    given = {"protocol": "sctp", "rules": rules}
    sctp = load_scenario(plain, values={"transport": given}).transport
    names = ("initial_cwnd", "ssthresh_floor", "probe_first", "sack_first", "duplicate_acks")
    assert tuple(getattr(sctp, name) for name in names) == values
    assert sctp.payload + sctp.chunk_header + sctp.header == 1500.0
    own = load_scenario(plain, values={"transport": {**given, "duplicate_acks": 7}}).transport
    assert own.duplicate_acks == 7.0
    assert own.initial_cwnd == values[0]


def test_vegas_has_neither_header_nor_handshake(plain):
    vegas = load_scenario(plain, values={"transport.protocol": "vegas"}).transport
    assert (vegas.header, vegas.handshake, vegas.alpha, vegas.beta, vegas.gamma) == (0.0, 0.0, 1.0, 3.0, 1.0)


def test_a_resolved_scenario_reads_back_equal(plain, tmp_path):
    values = {
        "hops.0.rate": {"log_uniform": ["0.1 Mbit/s", "20 Mbit/s"]},
        "hops.0.delay": {"normal": {"mean": "50 ms", "sd": "20 ms", "min": "1 ms", "max": "0.3 s"}},
        "hops.0.queue": {"choice": [10, "unlimited"]},
        "hops.0.outages": [{"start": "3 s", "duration": {"uniform": ["0 s", "5 s"]}}],
        "transport.window": {"integers": [8, 200]},
        "precision": "1 %",
    }
    scenario = load_scenario(plain, values=values)
    data = scenario.model_dump(mode="json", exclude_none=True)
    path = tmp_path / "again.yaml"
    path.write_text(yaml.safe_dump(json.loads(json.dumps(data))))
    assert load_scenario(path) == scenario
    assert scenario.paths[0].hops[0].rate == Distribution("log_uniform", (1e5, 2e7))


def test_hops_at_the_top_are_one_path(plain):
    scenario = load_scenario(plain)
    assert scenario == Scenario.check({**scenario.model_dump(mode="json", exclude_none=True)})
    changed = scenario.with_values({"hops.0.delay": "1 ms", "paths[0].hops[0].loss": 0})
    assert (changed.paths[0].hops[0].delay, changed.paths[0].hops[0].loss) == (0.001, 0.0)
    assert scenario.paths[0].hops[0].delay == 0.2


BAD = [
    ({"transport.windw": 3}, "plain.yaml: transport.windw is an unknown field; did you mean 'window'?"),
    (
        {"hops.0.delay": "-5 ms"},
        "plain.yaml: .*delay = '-5 ms' is below the limit; expected 0 to 3600 s",
    ),
    ({"hops.0.delay": "5 Mbit/s"}, "plain.yaml: .*wrong unit 'Mbit/s'; write a time such as '200 ms'"),
    ({"hops.0.delay": 5}, "has no unit; write a time such as '5 s' or '5 ms'"),
    ({"hops.0.delay": {"uniform": ["1 ms", 40]}}, "{uniform: .1 ms, 40.} has in uniform the value 40, which"),
    ({"hops.0.latency": "1 ms"}, "latency is an unknown field; did you mean 'delay'"),
    ({"hops.0.bandwidth": "1 Mbit/s"}, "bandwidth is an unknown field; did you mean 'rate'"),
    ({"hop": []}, "hop is an unknown field; did you mean 'hops'"),
    ({"hops.0.loss": 2}, "expected 0 % to 100 %; without %, 2 is a factor; write 2 %"),
    ({"hops.0.loss": "101 %"}, "plain.yaml: .*above the limit; expected 0 % to 100 %; write 100 % or less"),
    ({"hops.0.loss": {"uniform": [0, 1.5]}}, "above the limit"),
    ({"hops.0.rate": "0 bit/s"}, "below the limit"),
    ({"hops.0.rate": {"choice": ["1 Mbit/s", "1 s"]}}, "wrong unit"),
    (
        {"transport.protocol": "new-reno"},
        "plain.yaml: transport.protocol = 'new-reno' .* did you mean 'newreno'",
    ),
    ({"transport.window": 4097}, "plain.yaml: .*above the limit; expected 1 to 4096 packets"),
    ({"transport.window": {"integers": [8, 5000]}}, "plain.yaml: .*above the limit"),
    ({"transport.window": 3.5}, "not a whole number"),
    ({"transport": {"protocol": "sctp", "receiver_window": "1 GB"}}, "over 4096 packets"),
    ({"transport": {"protocol": "sctp", "receiver_window": "100 B"}}, "is smaller than a packet"),
    ({"transport": {"protocol": "sctp", "rules": "ns2"}}, "transport.rules = 'ns2' is not allowed"),
    ({"transport": {"window": 3}}, "transport.protocol.* is missing"),
    ({"transport.bytes": "1 MB", "transport.packets": 4}, "bytes and packets are both given"),
    ({"transport.start": "10 s"}, "transport.start can be at or after the end"),
    ({"transport.min_rto": "61 s"}, "min_rto can be above max_rto"),
    ({"transport.congestion_control": "none.py"}, "is not a file"),
    ({"transport.constants": {"a": 1}}, "constants belong to a congestion_control file"),
    ({"transport.ack_every": 3}, "ack_every = 3 is not allowed; expected 1 or 2"),
    ({"duration": "0 s"}, "below the limit"),
    ({"seed": -1}, "seed = -1 is out of range"),
    ({"seed": {"uniform": [1, 2]}}, "seed"),
    ({"precision": {"uniform": [0.1, 0.2]}}, "cannot be a distribution"),
    ({"replications": 0}, "replications = 0 is out of range"),
    ({"hops": []}, "at least 1 item"),
    ({"hops.0": {"count": 65, "each": {"rate": "1 Mbit/s", "delay": 0}}}, "above the limit"),
    ({"hops.0.reverse.loss": 3}, "reverse.loss is an unknown field"),
    ({"hops.0.outages": [{"start": "1 s"}]}, r"outages.0.duration is missing"),
    ({"hops.0.outages": {"up": "20 s"}}, "outages.down is missing; add it"),
    ({"hops.0.outages": {"up": "0 s", "down": "1 s"}}, "outages.up = '0 s' is below the limit"),
    ({"hops.0.outages": {"up": 20, "down": "1 s"}}, "outages.up = 20 has no unit"),
    ({"hops.0.outages": {"upp": "20 s", "down": "1 s"}}, "outages.upp is .*; did you mean 'up'"),
    ({"hops.0.outages": {"start": "1 s", "duration": "1 s"}}, r"is one outage, not a list; write \[\{start"),
    ({"hops.0.outages": "1 s"}, "is neither a list of outages nor mean times; write {up: 20 s, down: 1 s}"),
    (
        {"hops.0.outages": {"up": {"uniform": ["1 ms", "1 s"]}, "down": "0 s"}},
        "hops.outages can be up to .* on average; expected 0 to 4096; raise up, or shorten duration",
    ),
    ({"hops.1.rate": "1 bit/s"}, "item '1' does not exist; 'hops' has one item; write hops.0.rate"),
    ({"paths": [{"hops": [{"rate": "1 Mbit/s", "delay": 0}]}] * 2}, "only sctp, mptcp and quic use two"),
]


@pytest.mark.parametrize(("values", "complaint"), BAD, ids=[complaint for _, complaint in BAD])
def test_bad_input_is_one_line_with_field_value_range_and_remedy(plain, values, complaint):
    with pytest.raises(InputError, match=complaint) as error:
        load_scenario(plain, values=values)
    assert "\n" not in str(error.value)
    assert "plain.yaml" in str(error.value)


def test_too_many_hops_of_several_groups_are_refused(plain):
    group = {"count": {"integers": [1, 40]}, "each": {"rate": "1 Mbit/s", "delay": 0}}
    with pytest.raises(InputError, match="hops can be up to 80; expected 1 to 64"):
        load_scenario(plain, values={"hops": [group, group]})


def test_a_congestion_control_is_found_beside_its_scenario(plain, tmp_path):
    (tmp_path / "own.py").write_text('CONSTANTS = {"up": 1.0, "down": 0.5}\n')
    values = {"transport.congestion_control": "own.py", "transport.constants": {"down": 0.7}}
    transport = load_scenario(plain, values=values).transport
    assert transport.congestion_control == tmp_path / "own.py"
    assert transport.all_constants() == {"up": 1.0, "down": 0.7}
    with pytest.raises(InputError, match="cannot replace that of vegas"):
        load_scenario(plain, values={**values, "transport.protocol": "vegas"})
    values["transport.constants"] = {"dwn": 0.7}
    with pytest.raises(InputError, match=r"constants\.dwn is not in own.py; did you mean 'down'"):
        load_scenario(plain, values=values)
    (tmp_path / "own.py").write_text("def grow(): pass\nCONSTANTS = [1]\n")
    with pytest.raises(InputError, match=r"own\.py:2: CONSTANTS is not a dictionary"):
        load_scenario(plain, values=values)
    (tmp_path / "own.py").write_text("CONSTANTS = {'up' 1.0}\n")
    with pytest.raises(InputError, match=r"own\.py:1: is not Python"):
        load_scenario(plain, values=values)


def test_a_path_takes_time() -> None:
    instant = {"rate": "unlimited", "delay": "0 s"}
    data = {"duration": "1 s", "transport": {"protocol": "reno"}, "hops": [instant]}
    with pytest.raises(InputError, match="less than 1 ns"):
        Scenario.check(data)
    data["hops"] = [{"rate": "unlimited", "delay": "1 us"}]
    assert Scenario.check(data).paths[0].hops


def test_a_name_without_end_is_no_field():
    with pytest.raises(InputError, match="a field has a name of 5010 characters; expected 1 to 1000"):
        with_values({"hops": []}, {f"hops.{'9' * 5000}.loss": 0})


INSTANT = {"rate": "unlimited", "delay": "0.1 ns"}
IN_NO_TIME = [
    {"hops": [INSTANT]},
    {"hops": [{"rate": "unlimited", "delay": {"uniform": ["0.1 ns", "1 s"]}}]},
    {"hops": [{"rate": "1 Tbit/s", "delay": "0 s"}], "transport": {"protocol": "vegas", "payload": "1 B"}},
    {"paths": [{"hops": [{"rate": "1 Mbit/s", "delay": 0}]}, {"hops": [INSTANT]}],
     "transport": {"protocol": "sctp"}},
    {"shared": {"dumbbell": INSTANT, "access": {"rate": "unlimited"}, "flows": [{}]}},
    {"shared": {"dumbbell": {"rate": "1 Mbit/s", "delay": 0, "reverse": {"rate": "unlimited"}},
                "access": {"rate": "unlimited"}, "flows": [{"source": 1, "sink": 0}]}},
    {"shared": {"tree": {"routers": 4, "each": [INSTANT, {"rate": "1 Mbit/s", "delay": 0}]},
                "access": {"rate": "unlimited"}, "flows": [{}]}},
    {"shared": {"dumbbell": INSTANT, "access": {"rate": "unlimited"}, "flows": [{"protocol": "reno"}]},
     "transport": {"protocol": "udp", "rate": "1 Mbit/s"}},
]  # fmt: skip


@pytest.mark.parametrize("network", IN_NO_TIME)
def test_whole_nanoseconds_pass_in_every_round_trip(network) -> None:
    """Scenarios whose round trip rounds to zero nanoseconds are refused, because their kernel would never
    end."""
    data = {"duration": "1 ms", "transport": {"protocol": "newreno"}} | network
    with pytest.raises(InputError, match=r"less than 1 ns.*; raise a delay to 1 ns"):
        Scenario.check(data)


def test_a_network_that_takes_time_somewhere_on_the_way_is_accepted() -> None:
    data = {"duration": "1 ms", "transport": {"protocol": "newreno"}}
    lot = {"links": 2, "each": [INSTANT, {"rate": "unlimited", "delay": "1 ns"}]}
    shared = {"parking_lot": lot, "access": {"rate": "unlimited"}, "flows": [{}, {"route": "2"}]}
    assert Scenario.check(data | {"shared": shared}).shared
    assert Scenario.check(data | {"hops": [INSTANT, {"rate": "1 Mbit/s", "delay": 0}]}).paths


HOPS = [{"rate": "1 Mbit/s", "delay": "10 ms"}]
NETWORKS = {
    "paths": {"hops": HOPS},
    "wireless": {"wireless": {"cell": {"stations": 2}}},
    "adhoc": {
        "adhoc": {"nodes": 3, "area": {"side": "9 m"}, "range": "9 m", "mobility": {"model": "static"}}
    },
    "shared": {"shared": {"dumbbell": HOPS[0], "flows": [{}]}},
}  # fmt: skip


def scenario_of(network: str, transport: dict[str, str]) -> Scenario:
    return Scenario.check({"duration": "9 s", "transport": transport} | NETWORKS[network])


@pytest.mark.parametrize("network", NETWORKS)
@pytest.mark.parametrize("name", ["bic", "cubic", "westwood"])
def test_a_congestion_control_is_a_protocol_everywhere(network, name):
    """A congestion control as protocol is SACK with that control: the same scenario, key and model."""
    short = scenario_of(network, {"protocol": name})
    long = scenario_of(network, {"protocol": "sack", "congestion_control": name})
    assert short == long and key(short) == key(long) and model_of(short) is model_of(long)


@pytest.mark.parametrize("network", NETWORKS)
def test_standard_is_the_control_that_a_protocol_has_anyway(network):
    named = scenario_of(network, {"protocol": "newreno", "congestion_control": "standard"})
    assert named == (plain := scenario_of(network, {"protocol": "newreno"})) and key(named) == key(plain)


def test_another_protocol_takes_the_place_of_a_short_name_as_it_was_written():
    short = scenario_of("paths", {"protocol": "cubic"}).with_values({"seed": 3})
    assert short.with_values({"transport.protocol": "newreno"}).transport.congestion_control is None
    assert short.with_values({"transport.protocol": "bic"}).transport.congestion_control == "bic"
    long = scenario_of("paths", {"protocol": "sack", "congestion_control": "cubic"})
    assert long.with_values({"transport.protocol": "newreno"}).transport.congestion_control == "cubic"
    for control in ("bic", "standard"):
        with pytest.raises(InputError, match=f"protocol = cubic and congestion_control = {control} are both"):
            scenario_of("paths", {"protocol": "cubic", "congestion_control": control})


@pytest.mark.parametrize("network", NETWORKS)
def test_a_refused_protocol_comes_with_those_that_its_network_has(network):
    for name, complaint in (("nothing", "is an unknown protocol"), ("cubik", "did you mean 'cubic'")):
        with pytest.raises(InputError, match=complaint) as error:
            scenario_of(network, {"protocol": name})
        assert ", ".join(allowed(BY_KEY[network])) in str(error.value)
    for name in set(PROTOCOLS) - set(allowed(BY_KEY[network])):
        with pytest.raises(InputError, match=f"'{name}' is not supported; supported with {network}: "):
            scenario_of(network, {"protocol": name})


def test_axes_list_protocols_and_controls_together():
    scenario = {"duration": "9 s", "transport": {"protocol": "newreno"}, "hops": HOPS}
    axes = {"transport.protocol": ["newreno", "cubic", "sack"]}
    sweep = make_sweep({"name": "s", "scenario": scenario, "axes": axes})
    assert [model.name for model in sweep.models()] == ["tcp_newreno", "tcp_sack_cubic", "tcp_sack"]
    axes = {"transport.congestion_control": ["standard", "cubic"]}
    sweep = make_sweep({"name": "s", "scenario": scenario, "axes": axes})
    assert [model.name for model in sweep.models()] == ["tcp_newreno", "tcp_newreno_cubic"]
    assert sweep.axes[0].labels == ("standard", "cubic")


@pytest.mark.full
def test_what_a_compiler_refuses_in_a_control_is_one_line_of_that_file(tmp_path):
    own = tmp_path / "own.py"
    shutil.copy(Path(__file__).parents[1] / "configs" / "examples" / "aimd.py", own)
    text = own.read_text()
    line = text[: text.index("def grow")].count("\n") + 2
    own.write_text(re.sub(r"(def grow\(.*\).*:\n)", r"\1    import os\n", text))
    trust(own)
    scenario = scenario_of("paths", {"protocol": "newreno", "congestion_control": str(own)})
    for ask in (simulate, trace):
        with pytest.raises(InputError, match=rf"own\.py:{line}: cannot be compiled \(Use of unsupported"):
            ask(scenario.with_values({"replications": 2}))
