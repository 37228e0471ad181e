"""Error messages: one line per fault of a file, no messages of libraries, the option that set a field."""

import importlib
import pkgutil

import pytest
from pydantic import ValidationError
from typer.testing import CliRunner

import netcarlo
from netcarlo import InputError, Scenario, load_scenario
from netcarlo.cli.main import app
from netcarlo.errors import MAX_LINES, Faults, suggest
from netcarlo.planning import load_plan
from netcarlo.schema import problems
from netcarlo.schema.record import Record
from netcarlo.sweeps.space.file import load_sweep

SCENARIO = """scenario:
  duration: 10 s
  transport: {protocol: newreno}
  hops: [{rate: 1 Mbit/s, delay: 1 ms}]
"""


@pytest.fixture
def errors(tmp_path):
    """Write a file, and return the lines that a command prints for it, without the name of the file."""

    def lines(command, text, *options):
        file = tmp_path / "case.yaml"
        file.write_text(text)
        found = CliRunner().invoke(app, [command, str(file), *options, "--out", str(tmp_path / "out")])
        if command == "estimate":
            found = CliRunner().invoke(app, [command, str(file), *options])
        assert found.exit_code == 2, found.output
        said = [line for line in found.stderr.splitlines() if not line.startswith("note: ")]
        assert all(line.startswith("error: ") for line in said), found.stderr
        return [
            line.removeprefix("error: ").replace(f"{file}: ", "FILE: ").replace(f"{file}:", "")
            for line in said
        ]

    return lines


def begin(lines, *starts):
    assert len(lines) == len(starts), lines
    for line, start in zip(lines, starts, strict=True):
        assert line.startswith(start), (line, start)


def test_all_faults_of_a_scenario(errors):
    found = errors("estimate", """duration: 10
seed: -1
transport: {protocol: dctcp}
shared:
  dumbbell: {rate: 10 Mbit, delay: 20 ms, queue: 0.5}
  flows: [{windw: 3}, {count: 2, each: {start: 1}}, {source: -1, sink: 0}]
  failures:
    - {cables: [a], outages: 99.9 %}
""")  # fmt: skip
    begin(
        found, "1: duration = 10 has no unit", "2: seed = -1 is out of range; expected 0 or more",
        "3: transport.protocol = 'dctcp' is not supported",
        "5: shared.dumbbell.rate = '10 Mbit' has the wrong unit",
        "5: shared.dumbbell.queue = 0.5 is not a whole number", "6: shared.flows.0.windw is an unknown field",
        "6: shared.flows.1.each.start = 1 has no unit",
        "6: shared.flows.2.source = -1 is not a router",
        "8: shared.failures.0.cables.0 = 'a' is not a whole number",
        "8: shared.failures.0.outages = '99.9 %' is not a list of outages",
    )  # fmt: skip


def test_an_unknown_protocol_hides_no_other_fault(errors):
    text = "duration: 1 s\ntransport: {FIELDS}\nhops: [{rate: 1 Mbit/s, delay: 1 ms}]\n"
    for protocol in ("protocol: dctcp, ", "protocol: linx, ", ""):
        found = errors("estimate", text.replace("FIELDS", protocol + """
  window: 0, payload: 1460 B, slow_start: hystart, congestion_control: bbr,
  min_rto: 5,
  windw: 3,
  messages: {size: 1}"""))  # fmt: skip
        begin(
            found, "2: transport.protocol", "3: transport.window = 0 is below the limit; expected 1 to",
            "4: transport.min_rto = 5 has no unit", "5: transport.windw is an unknown field; did you mean",
            "6: transport.messages.size = 1 has no unit",
        )  # fmt: skip
    found = errors("estimate", text.replace("FIELDS", "protocol: rtp,\n  rate: 1,\n  jitter: 2"))
    begin(
        found, "2: transport.protocol = 'rtp' is not supported", "3: transport.rate = 1 has no unit",
        "4: transport.jitter = 2 is above the limit",
    )  # fmt: skip


def test_faults_that_concern_several_fields(errors):
    found = errors("estimate", """duration: 1 s
warm_up: 2 s
transport: {protocol: newreno, start: 5 s}
shared: {dumbbell: {rate: 1 Mbit/s, delay: 1 ms}, flows: [{}]}
""")  # fmt: skip
    begin(found, "2: warm_up can be at or after the end", "3: transport.start can be at or after the end")


def test_a_misspelt_field_is_not_missing_too(errors):
    found = errors(
        "estimate", "duration: 1 s\ntransport: {protocol: reno}\nhops: [{rate: 1 Mbit/s, dealy: 1 ms}]\n"
    )
    begin(found, "3: hops.0.dealy is an unknown field; did you mean 'delay'?")


def test_all_faults_of_a_sweep(errors):
    found = errors("sweep", """scenario:
  duration: 10 s
  transport: {protocol: newreno}
  hops: [{rate: 1, delay: 1}]
hops.0.rate: 5 Mbit/s
replicaitons: 5
seed: -1
axes:
  loss: {field: hops.0.loss, valeus: [0, 1 %]}
""")  # fmt: skip
    begin(
        found, "5: hops.0.rate is an unknown field; hops is a field of the scenario; write it under",
        "6: replicaitons is an unknown field; did you mean 'replications'?", "7: seed = -1 is out of range",
        "9: axes.loss.valeus is an unknown field; did you mean 'values'?",
        "4: hops.0.rate = 1 has no unit", "4: hops.0.delay = 1 has no unit",
    )  # fmt: skip


def test_all_faults_of_axes_outcomes_and_goals(errors):
    found = errors("sweep", SCENARIO + """axes:
  loss: {field: hops.0.loss, values: [0, 2, abc, 5 ms]}
  wait: {field: hops.0.delay, values: [1 ms, 2, -1 ms]}
  room: {field: scenario.hops.0.queue, values: [1, 2]}
outcomes: [goodput, timeouts]
goals: {a: goodput_bps > 3 parsec, b: gdput > 1}
""")  # fmt: skip
    begin(
        found, "6: axes.loss: hops.0.loss = 2 is above the limit; expected 0 % to 100 %",
        "6: axes.loss: hops.0.loss = 'abc' is not a fraction",
        "6: axes.loss: hops.0.loss = '5 ms' has the wrong unit",
        "7: axes.wait: hops.0.delay = 2 has no unit",
        "7: axes.wait: hops.0.delay = '-1 ms' is below the limit",
        "8: axes.room: scenario.hops.0.queue: fields of a scenario are named without 'scenario.'; write ",
        "9: outcomes: 'goodput' is not an outcome; did you mean 'goodput_bps'?",
        "10: goals.a: ", "10: goals.b: ",
    )  # fmt: skip
    assert [line.rpartition("(")[2] for line in found[:5]] == [
        "value 2 of 4)", "value 3 of 4)", "value 4 of 4)", "value 2 of 3)", "value 3 of 3)",
    ]  # fmt: skip
    assert not any("wireless" in line for line in found)


def test_all_points_of_an_axis_of_words(errors):
    found = errors(
        "sweep", SCENARIO + "axes: {p: {field: transport.protocol, values: [reno, dctcp, cubik]}}\n"
    )
    begin(
        found,
        "5: axes.p = dctcp: transport.protocol = 'dctcp' is not supp",
        "5: axes.p = cubik: transport.protocol",
    )
    assert found[1].endswith("(value 3 of 3)") and "did you mean 'cubic'?" in found[1]


def test_all_faults_of_a_plan(errors):
    text = (
        SCENARIO.replace("delay: 1 ms", "delay: 1")
        + """hops: [{queue: 3}]
quantity: {field: transport.window, linaer: [1, 9]}
requirements: {a: {goal: [], probability: []}}
"""
    )
    begin(
        errors("plan", text), "5: hops is an unknown field; hops is a field of the scenario",
        "6: quantity.linaer is an unknown field; did you mean 'linear'?",
        "7: requirements.a.goal = [] is not a text",
        "7: requirements.a.probability = [] is not allowed; write a text or a number",
        "4: hops.0.delay = 1 has no unit",
    )  # fmt: skip
    text = (
        SCENARIO
        + """quantity: {field: transport.window, linear: [1, 9]}
confidence: 2
requirements: {a: {goal: gdput > 1, probability: 2}, b: {goal: goodput_bps > 1 ms}}
"""
    )
    found = errors("plan", text)
    begin(
        found,
        "6: confidence = 2.0 is out of range; expected more than 0 and less than 1",
        "7: requirements.a.probability = 2.0 is out of range; expected more than 0 and less than 1; "
        "without a unit, 2 is 200 %; write 2 %",
    )
    text = text.replace("confidence: 2\n", "").replace("probability: 2", "probability: 0.5")
    begin(errors("plan", text), "6: requirements: a: ", "6: requirements: b: ")


def test_errors_of_options_name_option_and_value(errors):
    text = SCENARIO.replace("scenario:\n", "").replace("\n  ", "\n").lstrip()
    given = {"hops.0.rate": "5", "hops.3.rate": "1 Mbit/s", "transport.windw": "3", "duration.x": "1"}
    options = [word for name, value in given.items() for word in ("--set", f"{name}={value}")]
    found = errors("estimate", text, *options)
    assert [line.partition(": ")[0] for line in found] == ["--set hops.3.rate=1 Mbit/s", "--set duration.x=1"]
    found = errors("estimate", text, *options[:2], *options[4:6])
    begin(
        found,
        "--set transport.windw=3: FILE: transport.windw is",
        "--set hops.0.rate=5: FILE: hops.0.rate = 5 has",
    )
    found = errors("estimate", text, "--set", "seed=-1")
    assert found[0].startswith("--set seed=-1: ") and ":1: " not in found[0] and " 1: " not in found[0]
    found = errors("estimate", text, "--set", "transport.start=20 s")
    assert found[0].startswith("--set transport.start=20 s: ") and "can be at or after the end" in found[0]


def test_options_of_sweeps_look_inside_the_axis(errors, tmp_path):
    text = SCENARIO + "axes: {loss: {field: hops.0.loss, values: [0, 1 %]}, hops.0.delay: [1 ms, 2 ms]}\n"
    for option, said in {
        "axes.loss.values=[0, 2]": "axes.loss: hops.0.loss = 2 is above",
        "axes.loss.values.1=x": "axes.loss: hops.0.loss = 'x' is not a fraction",
        "axes.hops.0.delay.values=[1, 2]": "axes.hops.0.delay: hops.0.delay = 1 has no unit",
        "axes.loss.feild=hops.0.delay": "axes.loss.feild is an unknown field; did you mean 'field'?",
        "scenario.hops.0.rate=3": "hops.0.rate = 3 has no unit",
        "hops.0.rate=3": "hops is a field of the scenario; write --set scenario.hops.0.rate=3",
        "draw.cuont=3": "draw.cuont is an unknown field",
    }.items():
        found = errors("sweep", text, "--set", option)
        assert found[0].startswith(f"--set {option}: ") and said in found[0] and "wireless" not in found[0], (
            found
        )
    (tmp_path / "base.yaml").write_text(SCENARIO.replace("scenario:\n", "").replace("\n  ", "\n").lstrip())
    text = text.replace(SCENARIO, "scenario: base.yaml\n")
    for option, said in {
        "hops.0.rate=3": "hops is a field of the scenario; write --set scenario.hops.0.rate=3",
        "scenario.hops.0.rate=3": "base.yaml: hops.0.rate = 3 has no unit",
        "scenario.hops.0.late=3": "base.yaml: hops.0.late is an unknown field",
    }.items():
        found = errors("sweep", text, "--set", option)
        assert found[0].startswith(f"--set {option}: ") and said in found[0], found


def test_options_set_fields_of_a_scenario_in_a_file_of_its_own(tmp_path):
    (tmp_path / "base.yaml").write_text(SCENARIO.replace("scenario:\n", "").replace("\n  ", "\n").lstrip())
    sweep, plan = tmp_path / "sweep.yaml", tmp_path / "plan.yaml"
    sweep.write_text("scenario: base.yaml\naxes: {hops.0.delay: [1 ms, 2 ms]}\n")
    plan.write_text(
        "scenario: base.yaml\nquantity: {name: queue, field: hops.0.queue, values: [5, 10]}\n"
        "requirements: {enough: goodput_bps >= 1 kbit/s}\n"
    )
    values = {"scenario.hops.0.rate": "3 Mbit/s", "seed": 5}
    for base in load_sweep(sweep, values=values).base, load_plan(plan, values=values).base:
        assert (base.paths[0].hops[0].rate, base.seed) == (3e6, 5)


def test_misspellings_need_to_be_similar():
    assert suggest("quic", ["cubic", "vegas"]) == "known: cubic, vegas"
    assert suggest("tpc", ["tcp", "none"]) == "did you mean 'tcp'?"


def test_an_error_has_a_line_for_each_fault():
    faults = Faults()
    for text in ("a\nb", "c", "c"):
        with faults:
            raise InputError(text)
    with pytest.raises(InputError) as no:
        faults.refuse()
    assert no.value.lines == ("a b", "c") and str(no.value) == "a b\nc"
    many = InputError(*map(str, range(MAX_LINES + 5)))
    assert len(many.lines) == MAX_LINES + 1 and f"of {MAX_LINES + 5} errors" in many.lines[-1]


# Messages of pydantic.

KINDS = {
    "any": set(),
    "bool": {"bool_type", "bool_parsing"},
    "int": {"int_type", "int_parsing", "int_parsing_size", "int_from_float", "finite_number"},
    "float": {"float_type", "float_parsing", "finite_number"},
    "str": {"string_type", "string_sub_type", "string_unicode"},
    "list": {"list_type"},
    "tuple": {"tuple_type", "missing", "too_long"},
    "dict": {"dict_type"},
    "literal": {"literal_error"},
    "model": {"model_type"},
    "model-fields": {"model_attributes_type", "missing", "extra_forbidden"},
    "tagged-union": {"union_tag_invalid", "union_tag_not_found"},
    "is-instance": {"is_instance_of"},
    "lax-or-strict": {"path_type"},
    "function-plain": {"value_error"}, "function-before": {"value_error"},
    "function-after": {"value_error"}, "function-wrap": {"value_error"},
    "default": set(), "definition-ref": set(), "definitions": set(), "json-or-python": set(),
    "model-field": set(), "no-info": set(), "with-info": set(), "nullable": set(), "union": set(),
}  # fmt: skip
"""Types of the errors that a core schema of pydantic can raise."""
LIMITS = {
    "ge": "greater_than_equal", "gt": "greater_than", "le": "less_than_equal", "lt": "less_than",
    "min_length": "too_short", "max_length": "too_long",
}  # fmt: skip
TEXTS = {"min_length": "string_too_short", "max_length": "string_too_long"}


def records():
    for module in pkgutil.walk_packages(netcarlo.__path__, "netcarlo."):
        if not any(part in module.name for part in (".kernels", "__main__", ".live", ".cli", ".reports")):
            importlib.import_module(module.name)
    found, left = set(), [Record]
    while left:
        left += (more := left.pop().__subclasses__())
        found |= {each for each in more if each.__module__.startswith("netcarlo")}
    return sorted(found, key=lambda each: (each.__module__, each.__name__))


RECORDS = records()


def reachable(schema):
    if isinstance(schema, dict):
        if isinstance(kind := schema.get("type"), str):
            yield from KINDS[kind]  # KeyError: list the errors of a new type here
            limits = LIMITS | TEXTS if kind == "str" else LIMITS
            yield from (limits[name] for name in limits.keys() & schema.keys())
            assert not {"pattern", "multiple_of"} & schema.keys(), "say what this raises"
        for name, inside in schema.items():
            if name not in ("metadata", "serialization"):
                yield from reachable(inside)
    elif isinstance(schema, list | tuple):
        for inside in schema:
            yield from reachable(inside)


def test_every_error_that_pydantic_can_raise_has_words_of_ours():
    kinds = {kind for record in RECORDS for kind in reachable(record.__pydantic_core_schema__)}
    assert len(kinds) > 20
    assert not kinds - problems.LIMITS.keys() - problems.SHAPES.keys() - problems.WORDS.keys()


WRONG = [
    None, True, -1, 0, 5, 10**400, 1.5, float("nan"), float("inf"),
    "", "x", "5", "-3 s", [], [[]], ["x"], [None],
    {}, {"x": 1}, {"count": 2, "each": {}}, [{"x": 1}], {"uniform": []}, ("x", "y", "z"), b"x",
]  # fmt: skip
OF_PYDANTIC = (
    "input should", "should have", "should be", "extra inputs", "field required", "value error", "pydantic",
    "valid ", "unable to", "assertion", "permitted", "required", "greater than", "less than or",
    "<hop", "str]",
)  # fmt: skip


@pytest.mark.parametrize("record", RECORDS, ids=[each.__name__ for each in RECORDS])
def test_no_words_of_pydantic_reach_users(record):
    for name in record.model_fields:
        for value in WRONG:
            try:
                record.check({name: value})
            except InputError as error:
                for line in error.lines:
                    words = line.lower()
                    assert not any(each in words for each in OF_PYDANTIC), line
            except ValidationError as error:  # pragma: no cover
                raise AssertionError(name) from error


def test_shapes_are_named_in_our_words():
    for field, said in {
        "transport": "transport = 'x' has no fields; write {protocol: x}",
        "shared": "shared = 'x' is not a mapping; write lines such as 'name: value'",
        "paths": "paths = 'x' is not a list; write each item on a line that begins with '- '",
        "seed": "seed = 'x' is not a whole number; write one such as 3",
    }.items():
        with pytest.raises(InputError) as no:
            Scenario.check({"duration": "1 s", "transport": {"protocol": "reno"}, field: "x"})
        assert said in no.value.lines


def test_errors_from_python_have_the_same_lines(tmp_path):
    file = tmp_path / "own.yaml"
    file.write_text("duration: 1\ntransport: {protocol: reno}\nhops: [{rate: 1 Mbit/s, delay: 1}]\n")
    with pytest.raises(InputError) as no:
        load_scenario(file)
    assert [line.partition(": ")[0] for line in no.value.lines] == [f"{file}:1", f"{file}:3"]


def test_options_for_lists_that_are_not_there(errors):
    dumbbell = "{dumbbell: {rate: 1 Mbit/s, delay: 1 ms}, flows: [{}]}"
    text = f"duration: 1 s\ntransport: {{protocol: reno}}\nshared: {dumbbell}\n"
    found = errors("estimate", text, "--set", "hops.0.rate=1 Mbit/s")
    assert found[0].startswith("--set hops.0.rate=1 Mbit/s: ") and "there is no list 'paths'" in found[0]
    assert found[0].endswith("name a field of one that exists: transport, shared")


def test_options_of_compare_are_named(tmp_path):
    files = []
    for name in ("a", "b"):
        files.append(tmp_path / f"{name}.yaml")
        files[-1].write_text(SCENARIO.replace("scenario:\n", "").replace("\n  ", "\n").lstrip())
    for option in ("b:transport.windw=3", "hops.0.rate=7"):
        found = CliRunner().invoke(app, ["compare", *map(str, files), "--set", option])
        assert found.exit_code == 2 and found.stderr.startswith(f"error: --set {option}: "), found.stderr
