"""Binding of the functions of a model for a target: every function that one refers to is compiled first.

A kernel is a plain function of a module. Whatever differs between models, such as loss recovery or the
congestion control, is a `slot`: a name of the module that `bind` replaces with the model's own value.
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
    """Return True if rows run side by side in lockstep, so that a loop of some of them delays the others."""
    return getattr(step, "lockstep", False)


def compiled_by(step: Step) -> dict[Any, Any]:
    """Return the functions that binders with this step share, across models if it has a dictionary
    `compiled`."""
    found: dict[Any, Any] = getattr(step, "compiled", {})
    return found


@dataclass(frozen=True)
class Slot:
    """Name that every model fills with a module, a function or a number."""

    name: str


def slot(name: str) -> Any:
    """Return a new slot."""
    return Slot(name)


UNFILLED: Any = object()
"""Value of a field of `Slots` that fills no slot."""


@dataclass(frozen=True, kw_only=True)
class Slots:
    """Base of the records of slots. A field fills the slot of its name, unless it is UNFILLED.

    A record has a field for each slot of an engine or of a transport, so that mypy and the constructor reject
    a name that is wrong or missing. `bind` rejects a field that no function of the model refers to.
    """

    optional: ClassVar[frozenset[str]] = frozenset()
    """Fields to which some models do not refer."""

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
    """Functions and numbers by name. Compilers treat the members of a module as constants."""


def stacked(name: str, *modules: ModuleType) -> Namespace:
    """Return a namespace with the definitions of several modules; later ones override earlier ones."""
    space = Namespace(name)
    for module in modules:
        vars(space).update({key: value for key, value in vars(module).items() if not key.startswith("__")})
    return space


@dataclass(eq=False)
class Binder:
    """Compiles functions with `step`, each once for all that refer to it, and fills their slots."""

    step: Step
    slots: Mapping[str, Any] = field(default_factory=dict)
    inlined: Collection[ModuleType] = ()
    """Modules whose functions are inlined even if they are marked `noinline`."""
    compiled: dict[Any, Any] = field(default_factory=dict)
    """Compiled functions. Binders that share it compile functions with equal slots only once."""
    asked: set[str] = field(default_factory=set)
    """Names of the slots to which functions refer; binders may share it."""
    _made: dict[FunctionType, Any] = field(default_factory=dict)

    def function(self, function: Any) -> Any:
        """Return a function compiled with all that it refers to. Raises KeyError for an unfilled slot."""
        if function not in self._made:
            here = function.__globals__
            found = {
                name: self.value(here[name], attributes)
                for name, attributes in looked_up(function.__code__).items()
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
                self.compiled[alike] = self.step(copy), found  # keeps objects alive whose ids are in keys
            self._made[function], _ = self.compiled[alike]
        return self._made[function]

    def space(self, module: ModuleType, names: Collection[str] | None = None) -> Namespace:
        """Return the members of a module, or those with the given `names`, each replaced as in `value`."""
        members = vars(module)
        chosen = members if names is None else [name for name in names if name in members]
        space = Namespace(module.__name__)
        vars(space).update({name: self.value(members[name], names or ()) for name in chosen})
        return space

    def value(self, value: Any, names: Collection[str]) -> Any:
        """Return the bound replacement for a global that a function refers to.

        `names` are the attributes that the function reads from it.
        """
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
    """Return the function `make(*of)`, compiled by `step` once for all models with equal arguments.

    The arguments are numbers and compiled functions.
    """
    compiled, alike = compiled_by(step), (make, *map(_contents, of))
    if alike not in compiled:
        compiled[alike] = step(make(*of)), of
    return compiled[alike][0]


@functools.cache
def _numbers(enumeration: type[IntEnum]) -> Namespace:
    """Return an enumeration as integers by name."""
    space = Namespace(enumeration.__name__)
    vars(space).update({key: int(member) for key, member in enumeration.__members__.items()})
    return space


@functools.cache
def looked_up(code: CodeType) -> dict[str, set[str]]:
    """Return the globals to which a function's code refers, with the attributes that it reads of each."""
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
    """Return a value that is equal for replacements that compile to the same code."""
    if isinstance(value, Namespace):
        value = vars(value)
    if isinstance(value, dict):
        return tuple((name, _contents(member)) for name, member in sorted(value.items()) if name[:2] != "__")
    return (type(value), value) if isinstance(value, int | float | str) else id(value)


def _is_ours(module: ModuleType) -> bool:
    return module.__name__.partition(".")[0] == "netcarlo" or module.__name__.startswith("netcarlo_user_")
