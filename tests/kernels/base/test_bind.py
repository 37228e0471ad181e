"""Functions of modules, bound to a model: slots, names, members of enumerations, hints."""

import sys
from enum import IntEnum
from types import ModuleType
from typing import Any

import numba
import numpy as np
import pytest

from netcarlo.kernels import models
from netcarlo.kernels.base.bind import Binder, Namespace, bind, slot, stacked
from netcarlo.kernels.base.inline import noinline
from netcarlo.kernels.runtime import cache

control: Any = slot("control")
FAST: Any = slot("fast")


class Word(IntEnum):
    COUNT = 0
    SUM = 1
    TOTAL = 1  # an alias


def double(value: Any) -> Any:
    return 2 * value


@noinline
def note(m: Any, value: Any) -> None:
    m[Word.COUNT] += 1
    m[Word.TOTAL] += double(value)


def simulate(m: Any, count: Any) -> Any:
    for k in range(count):
        note(m, control.grow(k))
        if FAST:
            note(m, control.missing(k))
    return m[Word.SUM]


def grow_by_one(value: Any) -> Any:
    return value + 1


def made(**functions: Any) -> Namespace:
    space = Namespace("control")
    vars(space).update(functions)
    return space


def compiled(function: Any) -> Any:
    return numba.njit(_nrt=False)(function)


@pytest.mark.parametrize("step", [lambda function: function, compiled], ids=["plain", "compiled"])
def test_what_a_function_names_is_in_its_place(step: Any) -> None:
    run = bind(simulate, step, {"control": made(grow=grow_by_one), "fast": False})
    m = np.zeros(2, np.int64)
    assert run(m, 4) == 2 * (1 + 2 + 3 + 4)
    assert m.tolist() == [4, 20]


def test_a_slot_that_is_not_filled_is_named() -> None:
    with pytest.raises(KeyError, match="'fast'"):
        bind(simulate, lambda function: function, {"control": made(grow=grow_by_one)})


def test_each_function_is_compiled_once_and_keeps_its_hints() -> None:
    seen: list[Any] = []
    bind(simulate, lambda f: seen.append(f) or f, {"control": made(grow=grow_by_one), "fast": False})
    assert sorted(f.__name__ for f in seen) == ["double", "grow_by_one", "note", "simulate"]
    assert [f.__name__ for f in seen if getattr(f, "noinline", False)] == ["note"]


def test_modules_that_are_inlined_lose_the_hint_to_call() -> None:
    seen: list[Any] = []
    here = ModuleType(__name__)
    slots = {"control": made(grow=grow_by_one), "fast": False}
    bind(simulate, lambda f: seen.append(f) or f, slots, inlined=(here,))
    assert not any(getattr(f, "noinline", False) for f in seen)
    assert note.noinline  # the key of other models does not change


def test_the_later_module_wins() -> None:
    first, second = ModuleType("first"), ModuleType("second")
    vars(first).update(grow=1, acked=2)
    vars(second).update(grow=3)
    both = stacked("both", first, second)
    assert (both.grow, both.acked, both.__name__) == (3, 2, "both")


def key(**slots: Any) -> str:
    """Return the key of a compiled model on disk."""
    lines: list[bytes] = []
    function = bind(simulate, lambda function: function, {"fast": False, **slots})
    cache._describe(function, lines.append, set())
    return repr(lines)


def test_what_fills_a_slot_is_part_of_the_key() -> None:
    assert key(control=made(grow=grow_by_one)) == key(control=made(grow=grow_by_one))
    assert key(control=made(grow=grow_by_one)) != key(control=made(grow=double))
    assert key(control=made(grow=grow_by_one)) != key(control=made(grow=grow_by_one), fast=True)


PROGRAM = """
from enum import IntEnum

class Word(IntEnum):
    COUNT = 0
    SUM = 1
    UNREAD = 2

LIMIT = 3

def reached(value):
    return min(value, LIMIT)

def apart(value):
    return value + 1

def program(m, value):
    'Add a value.'
    m[Word.COUNT] += reached(value)
    return [part for part in (value, 5)]
"""


@pytest.mark.parametrize(
    ("old", "new", "same"),
    [
        ("'Add a value.'", "'Add one value.'", True),
        ("LIMIT = 3", "LIMIT = 3  # packets\n\n", True),
        ("value + 1", "value + 2", True),
        ("UNREAD = 2", "UNREAD = 7", True),
        ("COUNT = 0", "COUNT = 4", False),
        ("LIMIT = 3", "LIMIT = 4", False),
        ("min(", "max(", False),
        ("value, 5)", "value, 6)", False),
        ("m, value):", "m, value, more=1):", False),
        ("+= reached", "-= reached", False),
    ],
)
def test_what_is_compiled_is_the_key(old: str, new: str, same: bool) -> None:
    """Check that only the instructions and constants that a function reaches are part of the key."""

    def key_of(text: str) -> bytes:
        space: dict[str, Any] = {"__name__": "user_program"}
        exec(compile(text, "user_program.py", "exec"), space)
        lines: list[bytes] = []
        cache._describe(bind(space["program"], lambda function: function), lines.append, set())
        return b"".join(lines)

    assert PROGRAM.count(old) == 1
    assert (key_of(PROGRAM.replace(old, new)) == key_of(PROGRAM)) is same


def test_binders_that_share_compile_what_they_fill_alike_once() -> None:
    compiled: dict[object, object] = {}
    made = []

    def step(function: Any) -> Any:
        made.append(function.__name__)
        return function

    for reduce in (halve, halve, drop_all):
        binder = Binder(step, {"reduce": reduce}, compiled=compiled)
        assert binder.function(either)(8) == reduce(8) + 1
    assert made.count("increment") == 1 and made.count("either") == 2


reduce: Any = slot("reduce")


def halve(window: int) -> int:
    return window // 2


def drop_all(window: int) -> int:
    return 0


def increment(window: int) -> int:
    return window + 1


def either(window: int) -> int:
    return increment(reduce(window))


@pytest.mark.parametrize("name", ["shared_mixed", "shared_mixed_linux", "wifi_mixed"])
def test_compiling_leaves_the_functions_of_modules_as_they_are(name: str) -> None:
    """Check function names: a renamed function would have another key than the one that is looked up."""
    seen: list[Any] = []
    models.model(name).make(lambda function: seen.append(function) or function)
    own = [
        function
        for function in seen
        if getattr(sys.modules[function.__module__], function.__name__, 0) is function
    ]
    assert len(seen) > 100 and not own


def test_mixtures_compile_the_senders_that_they_share_once() -> None:
    seen: list[str] = []

    def step(function: Any) -> Any:
        seen.append(function.__qualname__)
        return function

    step.compiled = {}  # type: ignore[attr-defined]
    counts = []
    for name in "shared_mixed", "shared_mixed_arrivals", "shared_mixed":
        seen.clear()
        models.model(name).make(step)
        counts.append(len(seen))
    assert counts[0] > 2 * counts[1] > 0 and counts[2] == 0
