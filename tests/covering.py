"""Smallest set of models found that has every pair of options: `python -m tests.covering [--tests]`.

A fault in a model is nearly always one of a sender, of a congestion control, of an option, or of two of them
together.  So not every model needs an expensive test, but every *pair* of values of their axes does.  The
axes are the fields of `Address`.  A pair is feasible if some model of `models.MODELS` has it.

The command prints a small set of models that has all pairs, and the share of the pairs in the models that are
compiled for every target (`models.NAMES`).  With `--tests` it also collects the tests, and adds the models
that tests compare with twins, and run from PTX.  These are found by reading the tests: a name that a test
puts together is not seen.
"""

import argparse
import contextlib
import functools
import io
import types
from collections.abc import Iterable, Iterator, Mapping
from itertools import combinations
from typing import Any, NamedTuple

from netcarlo.kernels import models
from netcarlo.kernels.base.address import Address


class Value(NamedTuple):
    """A value of an axis: a model has one of each."""

    axis: str
    value: str | bool


Pair = tuple[Value, Value]

SCENARIOS = "tests.twins.rows", "tests.twins.random_numbers", "tests.twins.jitter"
"""Modules of the twins that only give input to tests; besides those that are named `scenarios`."""


def addresses() -> dict[str, Address]:
    """The addresses of all models, by name."""
    return {name: model.address for name, model in models.MODELS.items()}


def axes(of: Iterable[Address]) -> dict[str, list[str | bool]]:
    """The fields of an address in which models differ, and their values."""
    of = [*of]
    found = {name: sorted({getattr(address, name) for address in of}) for name in Address._fields}
    return {name: values for name, values in found.items() if len(values) > 1}


def pairs(of: Iterable[Address]) -> set[Pair]:
    """The pairs of values of different axes that models have."""
    known = axes(addresses().values())
    return {pair for address in of
            for pair in combinations([Value(name, getattr(address, name)) for name in known], 2)}  # fmt: skip


def switched_on(of: Iterable[Address]) -> set[Pair]:
    """The pairs of what is there: network, sender with its congestion control, and options that are on."""
    found = set()
    for address in of:
        sender = f"{address.sender} {address.control}".strip()
        values = [Value("family", address.family), Value("sender", sender)]
        values += [Value(name, True) for name in Address._fields if getattr(address, name) is True]
        found |= {*combinations(values, 2)}
    return found


def covering(of: Mapping[str, Address], *, start: Iterable[str] = ()) -> list[str]:
    """Return the names of few models that have all pairs that any of them has; `start` are taken anyway.

    Each is the model with the most pairs that are missing, of these the one that compiles fastest; then those
    that turned out to be superfluous are left out.  The result does not depend on the order of `of`.
    """
    numbers: dict[Pair, int] = {}
    masks = {}
    for name in sorted(of, key=lambda name: (models.MODELS[name].compile_s, name)):
        masks[name] = sum(1 << numbers.setdefault(pair, len(numbers)) for pair in pairs([of[name]]))
    given = [*start]
    missing = (1 << len(numbers)) - 1
    for name in given:
        missing &= ~masks[name]
    chosen: list[str] = []
    while missing:
        best = max(masks, key=lambda name: (masks[name] & missing).bit_count())
        chosen.append(best)
        missing &= ~masks[best]
    for name in [*chosen]:
        others = [masks[other] for other in (*given, *chosen) if other != name]
        if not masks[name] & ~functools.reduce(int.__or__, others, 0):
            chosen.remove(name)
    return given + chosen


class Found(NamedTuple):
    """Names of models that tests use."""

    twins: set[str]
    """Names in the sources of tests that run a twin."""
    ptx: set[str]
    """Names in the sources of tests that need a compiler for CUDA."""


class Collected:
    """A plugin of pytest that keeps what is collected."""

    items: list[Any]

    def pytest_collection_finish(self, session: Any) -> None:
        """Keep the tests."""
        self.items = session.items


def of_tests() -> Found:
    """Read which models the tests use, from their parameters, their code, and that of what they call."""
    import pytest

    collected, found = Collected(), Found(set(), set())
    with contextlib.redirect_stdout(io.StringIO()):
        status = pytest.main(["--collect-only", "-qq", "tests"], plugins=[collected])
    if status:
        raise SystemExit("the tests cannot be collected")
    for item in collected.items:
        fixtures = getattr(item, "_fixtureinfo").name2fixturedefs.values()  # noqa: B009
        functions = [item.function, *(each[-1].func for each in fixtures)]
        code = {part for function in functions for part in reached(function)}
        names = {part for part in code if isinstance(part, str)}
        parameters = getattr(item, "callspec", None)
        names |= {*named(parameters.params.values() if parameters else ())}
        of_marks = {tool for mark in item.iter_markers("needs") for tool in mark.args}
        if of_marks & {"numba_cuda", "numba_cuda_mlir"}:
            found.ptx.update(names)
        elif any(not isinstance(part, str) for part in code):
            found.twins.update(names)
    return found


def named(values: Iterable[Any]) -> Iterator[str]:
    """The names of models among values, and in tuples of them."""
    for value in values:
        if isinstance(value, tuple | list) and not hasattr(value, "_fields"):
            yield from named(value)
        elif (name := value if isinstance(value, str) else getattr(value, "name", None)) in models.MODELS:
            yield str(name)


@functools.cache
def reached(function: Any) -> frozenset[Any]:
    """The names of models in the code of a function and of what it calls in the tests, and twins in it."""
    found: set[Any] = set()
    seen: set[Any] = set()

    def visit(function: Any) -> None:
        function = getattr(function, "__wrapped__", function)
        if function in seen or not isinstance(function, types.FunctionType):
            return
        seen.add(function)
        parts = [function.__code__]
        while parts:
            code = parts.pop()
            parts += [part for part in code.co_consts if isinstance(part, types.CodeType)]
            found.update(named(code.co_consts))
            for name in code.co_names:
                there = function.__globals__.get(name)
                home = str(getattr(there, "__module__", None) or getattr(there, "__name__", ""))
                if home.startswith("tests.twins"):
                    if home not in SCENARIOS and not home.endswith("scenarios"):
                        found.add(there)
                elif home.startswith("tests."):
                    visit(there)
                else:
                    found.update(named([there] if isinstance(there, tuple | list | str) else ()))

    visit(function)
    return frozenset(found)


def report(lists: Mapping[str, Iterable[str]]) -> str:
    """A table: how many of the feasible pairs each list of models has."""
    known = addresses()
    every, every_on = pairs(known.values()), switched_on(known.values())
    lines = [
        f"{len(known)} models, {len(every)} pairs of values, {len(every_on)} of what is switched on",
        f"{'':32}{'models':>8}{'pairs':>16}{'switched on':>16}",
    ]
    for title, names in lists.items():
        own = [known[name] for name in names]
        all_pairs, on = len(pairs(own)), len(switched_on(own))
        shares = f"{all_pairs} ({all_pairs / len(every):.0%})", f"{on} ({on / len(every_on):.0%})"
        lines.append(f"{title:32}{len(own):>8}{shares[0]:>16}{shares[1]:>16}")
    return "\n".join(lines)


def main() -> None:
    """Print the covering set, and what the lists of models in the tests cover."""
    parser = argparse.ArgumentParser(prog="python -m tests.covering", description=__doc__)
    parser.add_argument("--tests", action="store_true")
    given = parser.parse_args()
    chosen = covering(addresses())
    lists: dict[str, Iterable[str]] = {
        "small digests (models.NAMES)": models.NAMES, "large digests": models.MODELS, "covering set": chosen,
        "NAMES and what they lack": covering(addresses(), start=models.NAMES),
    }  # fmt: skip
    if given.tests:
        found = of_tests()
        lists |= {"twins, as read from the tests": found.twins, "PTX, as read from the tests": found.ptx}
    print(report(lists), *chosen, sep="\n")


if __name__ == "__main__":
    main()
