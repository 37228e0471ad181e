"""Arguments of public functions: a wrong one raises InputError with argument, value and allowed values."""

import inspect
import math
import shutil
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

import netcarlo
from netcarlo import (
    Comparison,
    Estimate,
    Fitted,
    InputError,
    Scenario,
    StoredSweep,
    estimate,
    load_scenario,
    simulate,
)
from netcarlo.schema.arguments import RULES

DATA = {
    "duration": "1 s", "replications": 2, "transport": {"protocol": "newreno", "window": 10},
    "hops": [{"rate": "1 Mbit/s", "delay": "10 ms", "queue": 20, "loss": "1 %"}],
}  # fmt: skip
PLAN = {
    "scenario": DATA, "quantity": {"field": "transport.window", "values": [1, 2]},
    "requirements": {"fast": {"goal": "goodput_bps >= 1 kbit/s", "probability": 0.5}},
}  # fmt: skip
RARE = {**DATA, "hops": [{**DATA["hops"][0], "outages": {"down": "4 h a year", "mttr": "1 h"}}]}
FIRST = {
    "simulate": DATA, "estimate": DATA, "trace": DATA, "capture": DATA, "compare": DATA, "plan": PLAN,
    "frontier": PLAN,
    "sweep": {"scenario": DATA, "axes": {"transport.window": [2, 4]}}, "load_scenario": "own.yaml",
    "validate": "own.csv", "report": "store", "plot": "store", "open": "store", "trust": "own.yaml",
    "reproduce": ["sctp_linkdown"], "compare_measured": DATA, "fit": DATA, "on_workers": None,
    "availability": RARE,
}  # fmt: skip
KEYWORDS = {"availability": {"goals": ["goodput_bps >= 1 kbit/s"]}}
"""Required parameters with keywords."""


REQUIRED = {"capture": ("run.pcapng",), "compare_measured": ("run.json",), "fit": (["run.json"],)}
"""Required parameters behind the first one."""
SECOND = "file", "runs"
"""Names of required second parameters."""
SIDES = SimpleNamespace(label="a", axes=[]), SimpleNamespace(label="b", axes=[])
COMPARED = Comparison(SIDES, pd.DataFrame(), pd.DataFrame(), (), 0, 0.95, 0)
MEASURED = Path(__file__).parents[1] / "measurements" / "data" / "iperf3_tcp.json"
FITTED = Fitted(None, {}, [], [], [], [], [], "", [], 1, 1, 0, 0, 0, 0)
NAMES = {("compare", "of")}
"""Parameters that accept any text, because only results know the valid names."""
ESTIMATED = Estimate(None, None, pd.DataFrame({"n": []}), pd.DataFrame(), True, {})


class Odd:
    def __repr__(self):
        raise RuntimeError


WRONG = (
    None, True, -1, 0, 1.5, math.nan, -math.inf, 10**30, "a", "", "\0", "1", b"x", [], [1], {}, {1: 2},
    (), object(), Odd(), np.nan, np.array([1, 2]), lambda: 0, int, [None], {"a": object()}, ["a"],
)  # fmt: skip
"""Wrong values for nearly every parameter; a few are allowed for some of them."""


class Taken(BaseException):
    """Exception that shows that the arguments were accepted and the work would begin."""


def functions() -> Iterator[tuple[str, object]]:
    for name in netcarlo.__all__:
        found = getattr(netcarlo, name)
        if not inspect.isclass(found):
            yield name, found
            continue
        for method, of in vars(found).items():
            several = inspect.isfunction(of) and len(inspect.signature(of).parameters) > 1
            if several and not method.startswith("_"):
                yield f"{name}.{method}", of


CASES = [
    (name, parameter) for name, of in functions() for parameter in inspect.signature(of).parameters
    if parameter != "self"
]  # fmt: skip


@pytest.fixture
def no_work(tmp_path, monkeypatch):
    """Replace the work by raising `Taken`."""

    def taken(*_, **__):
        raise Taken

    for work in (
        "simulation.launches.run", "simulation.launches.trace", "simulation.launches.prepare",
        "captures.capture.recorded",
        "simulation.executors.open_workers", "sweeps.api.open_workers", "studies.study.load",
    ):  # fmt: skip
        monkeypatch.setattr(f"netcarlo.{work}", taken)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "own.yaml").write_text("duration: 1 s\n")
    shutil.copy(MEASURED, tmp_path / "run.json")


def call(name, parameter, value):
    """Call a function with this value of a parameter and valid values of the required ones."""
    owner, _, method = name.partition(".")
    if method:
        scenario = Scenario.check(DATA)
        stored = StoredSweep(SimpleNamespace(scan=lambda: SimpleNamespace(files=[]), url="store"))
        made = {
            "Scenario": scenario, "Estimate": ESTIMATED, "Comparison": COMPARED, "StoredSweep": stored,
            "Fitted": FITTED,
        }[owner]  # fmt: skip
        return getattr(made, method)(**{parameter: value})
    function = getattr(netcarlo, owner)
    kinds = inspect.signature(function).parameters
    first = next(iter(kinds))
    if parameter == first:
        return function(value, *REQUIRED.get(name, ()), **KEYWORDS.get(name, {}))
    if kinds[parameter].kind is inspect.Parameter.VAR_POSITIONAL:
        return function(FIRST[name], value)
    more = (DATA,) if name == "compare" else REQUIRED.get(name, ()) if parameter not in SECOND else ()
    return function(FIRST[name], *more, **KEYWORDS.get(name, {}) | {parameter: value})


@pytest.mark.parametrize(("name", "parameter"), CASES, ids=[f"{n}-{p}" for n, p in CASES])
def test_any_value_of_any_argument_is_accepted_or_an_input_error(no_work, name, parameter):
    refused: list[InputError] = []
    for value in WRONG:
        try:
            call(name, parameter, value)
        except InputError as error:
            refused.append(error)
        except Taken:
            pass
    few = 8 if (name, parameter) in NAMES else 6
    lines = [line for error in refused for line in error.lines]
    assert len(refused) >= len(WRONG) - few and all(lines) and "\n" not in "".join(lines), refused


BAD = {
    "threads": (-1, 0, 1.0, 1.5, "a", "4", True, math.nan, [], 10**9),
    "workers": (-1, 0, 1.5, "a", True, math.nan, 10**9),
    "replications": (0, -5, "3", 1.5, True, math.nan, 2**32 + 1),
    "replication": (-1, "3", 1.5, True, None, 2**32),
    "first": (-1, 1.5, "a", True, None, 2**32),
    "seed": (-1, 1.5, "a", True, math.nan, 2**63),
    "precision": (0, -0.01, True, math.nan, math.inf, "", [0.01]),
    "progress": (1, "yes", []),
    "large": (1, "yes", None), "grow": (0, "no", None),
    "target": (None, 1, ["cpu"]),
    "goals": ("goodput_bps > 1", [1], None, 5),
    "values": ([], "a", {1: 2}, 5),
    "out": (5, [], True, "a\0b"), "folder": (5, [], True, "a\0b"),
}  # fmt: skip
"""Values that no function accepts, by the name of the parameter."""


@pytest.mark.parametrize(
    ("name", "parameter"), [case for case in CASES if case[1] in BAD], ids=lambda case: case
)
def test_values_out_of_range_are_refused_with_name_and_value(no_work, name, parameter):
    for value in BAD[parameter]:
        with pytest.raises(InputError) as no:
            call(name, parameter, value)
        assert f"{parameter} = " in str(no.value) and "expected " in str(no.value), str(no.value)


def test_all_cores_are_suggested():
    with pytest.raises(InputError, match=r"threads = -1 is not allowed; .* leave it out for all cores"):
        simulate(DATA, threads=-1)


def test_numbers_of_numpy_and_none_are_accepted():
    wanted = simulate(DATA, first=1, replications=3, threads=1).frame
    found = simulate(DATA, first=np.int64(1), replications=np.uint8(3), threads=np.int32(1)).frame
    assert found.equals(wanted)
    assert simulate(DATA, threads=None, replications=None, large=np.bool_(False)).frame.shape[0] == 2
    assert estimate(DATA, precision=np.float32(0.5), replications=40, seed=np.int64(3)).precise


def test_every_rule_is_used():
    assert {parameter for _, parameter in CASES} >= RULES.keys()


def test_the_words_say_what_is_allowed(tmp_path):
    with pytest.raises(InputError, match="scenario = None is not allowed; expected Scenario, a text"):
        estimate(None)
    with pytest.raises(InputError, match=r"result = 5 is not allowed; expected .*Estimate, Answer"):
        netcarlo.plot(5)
    with pytest.raises(InputError, match="no such file"):
        load_scenario(tmp_path / "none.yaml")
