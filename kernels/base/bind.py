"""Binds the functions of a model for a target: each function that one names is compiled first, in its place.

A kernel is a plain function of a module.  What differs between models, such as a TCP's loss recovery or the
congestion control, is a `slot`: a name of the module that `bind` fills with the model's own.
"""

import dis
import functools
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, fields
from enum import IntEnum
from types import CodeType, FunctionType, ModuleType
from typing import Any, ClassVar

Step = Callable[[Any], Any]
"""Compiles a function for a target: `runtime.compile.cpu`, `runtime.cuda.step`, or nothing."""


def is_lockstep(step: Step) -> bool:
    """True if rows will run side by side in step: there a loop of some of them keeps all others waiting."""
    return getattr(step, "lockstep", False)


def compiled_by(step: Step) -> dict[Any, Any]:
    """What binders compile once for all: with a step that has a dictionary `compiled`, across models."""
    found: dict[Any, Any] = getattr(step, "compiled", {})
    return found


@dataclass(frozen=True)
class Slot:
    """A name that every model fills: with a module, a function or a number."""

    name: str


def slot(name: str) -> Any:
    """A new slot, for a module to name."""
    return Slot(name)


UNFILLED: Any = object()
"""Value of a field of `Slots` that fills no slot."""


@dataclass(frozen=True, kw_only=True)
class Slots:
    """Base of the records of slots: each field fills the slot of its name, unless it is UNFILLED.

    A record has a field for each slot of an engine or of a transport, so that mypy and the constructor refuse
    a name that is wrong or missing.  `bind` refuses a field that no function of the model looks up.
    """

    optional: ClassVar[frozenset[str]] = frozenset()
    """Fields that some models do not look up."""

    def filled(self) -> dict[str, Any]:
        """Return the values by the names of their slots."""
        values = {each.name: getattr(self, each.name) for each in fields(self)}
        return {name: value for name, value in values.items() if value is not UNFILLED}


Filled = Mapping[str, Any] | Slots
"""Values by the names of their slots."""


def together(*filled: Filled) -> dict[str, Any]:
    """Return the values of several records; raises ValueError if two of them differ in a slot."""
    found: dict[str, Any] = {}
    for each in filled:
        values = each.filled() if isinstance(each, Slots) else each
        for name, value in values.items():
            if name in found and not (found[name] is value or found[name] == value):
                raise ValueError(f"slot '{name}' is filled twice, with {found[name]!r} and {value!r}")
            found[name] = value
    return found


class Namespace(ModuleType):
    """Functions and numbers by name: compilers take a module's for constants."""


def stacked(name: str, *modules: ModuleType) -> Namespace:
    """All that some modules define under one name; where two define the same, the later one."""
    space = Namespace(name)
    for module in modules:
        vars(space).update({key: value for key, value in vars(module).items() if not key.startswith("__")})
    return space


@dataclass(eq=False)
class Binder:
    """Compiles functions with `step`, each once for all that name it, and fills their slots."""

    step: Step
    slots: Mapping[str, Any] = field(default_factory=dict)
    inlined: Collection[ModuleType] = ()
    """Functions of these modules become part of what calls them even where they are marked as `noinline`."""
    compiled: dict[Any, Any] = field(default_factory=dict)
    """What has been compiled; binders that share it compile what they fill alike only once."""
    asked: set[str] = field(default_factory=set)
    """Names of the slots that functions have looked up; binders may share it."""
    _made: dict[FunctionType, Any] = field(default_factory=dict)

    def function(self, function: Any) -> Any:
        """The function, compiled with all that it names.  Raises KeyError for a slot that is not filled."""
        if function not in self._made:
            here = function.__globals__
            found = {
                name: self.value(here[name], attributes)
                for name, attributes in _looked_up(function.__code__).items()
                if name in here
            }
            inlined = function.__module__ in {module.__name__ for module in self.inlined}
            alike = function, inlined, _contents(found)
            if alike not in self.compiled:
                copy = FunctionType(
                    function.__code__, {**here, **found}, function.__name__, function.__defaults__,
                    function.__closure__,
                )  # fmt: skip
                copy.__dict__.update(function.__dict__)
                copy.__module__, copy.__qualname__ = function.__module__, function.__qualname__
                if inlined:
                    copy.__dict__.pop("noinline", None)
                self.compiled[alike] = self.step(copy), found  # which keeps alive what it names
            self._made[function], _ = self.compiled[alike]
        return self._made[function]

    def space(self, module: ModuleType, names: Collection[str] | None = None) -> Namespace:
        """Those of the `names` that a module defines (all unless given), each as `value` says."""
        members = vars(module)
        chosen = members if names is None else [name for name in names if name in members]
        space = Namespace(module.__name__)
        vars(space).update({name: self.value(members[name], names or ()) for name in chosen})
        return space

    def value(self, value: Any, names: Collection[str]) -> Any:
        """What stands in place of a value in code that looks up `names` in it, and in what it finds there."""
        if isinstance(value, Slot):
            self.asked.add(value.name)
            if value.name not in self.slots:
                raise KeyError(f"the model fills no slot '{value.name}'")
            value = self.slots[value.name]
        if isinstance(value, FunctionType):
            return self.function(value)
        if isinstance(value, type) and issubclass(value, IntEnum):
            return _numbers(value)
        if isinstance(value, Namespace) or (isinstance(value, ModuleType) and _is_ours(value)):
            return self.space(value, names)
        return value


def bind(
    function: Callable[..., Any],
    step: Step,
    *filled: Filled,
    inlined: Collection[ModuleType] = (),
    asked: Collection[str] = (),
) -> Any:
    """Return the function compiled by `step` with all that it names, its slots `filled`; see `Binder`.

    Members of an `IntEnum` become plain integers.  `asked` are slots that other binders of the model have
    looked up.  Raises KeyError for a slot that is not filled, ValueError for one that two records fill
    differently, or that a record fills although nothing looks it up.
    """
    binder = Binder(step, together(*filled), inlined, compiled_by(step))
    bound = binder.function(function)
    for record in filled:
        if isinstance(record, Slots):
            unused = record.filled().keys() - record.optional - binder.asked - {*asked}
            if unused:
                name = type(record).__name__
                raise ValueError(f"{name} fills {', '.join(sorted(unused))}, which nothing looks up")
    return bound


def once(step: Step, make: Callable[..., Any], *of: Any) -> Any:
    """The function that `make(*of)` returns, compiled by `step` once for all models that have the same `of`:
    numbers, and functions that are compiled."""
    compiled, alike = compiled_by(step), (make, *map(_contents, of))
    if alike not in compiled:
        compiled[alike] = step(make(*of)), of
    return compiled[alike][0]


@functools.cache
def _numbers(enumeration: type[IntEnum]) -> Namespace:
    """An enumeration as integers by name."""
    space = Namespace(enumeration.__name__)
    vars(space).update({key: int(member) for key, member in enumeration.__members__.items()})
    return space


def _looked_up(code: CodeType) -> dict[str, set[str]]:
    """The globals that a function's code looks up, and of each the attributes."""
    found: dict[str, set[str]] = {}
    last = ""
    for instruction in dis.get_instructions(code):
        if instruction.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
            last = instruction.argval
            found.setdefault(last, set())
        elif instruction.opname in ("LOAD_ATTR", "LOAD_METHOD") and last:
            found[last].add(instruction.argval)
        else:
            last = ""
    return found


def _contents(value: Any) -> Any:
    """Equal for what stands in place of names in two functions if these are compiled alike."""
    if isinstance(value, Namespace):
        value = vars(value)
    if isinstance(value, dict):
        return tuple((name, _contents(member)) for name, member in sorted(value.items()) if name[:2] != "__")
    return (type(value), value) if isinstance(value, int | float | str) else id(value)


def _is_ours(module: ModuleType) -> bool:
    return module.__name__.partition(".")[0] == "netcarlo" or module.__name__.startswith("netcarlo_user_")
