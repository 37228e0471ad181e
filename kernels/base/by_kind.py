"""Dispatch of functions by the kind of a flow.

Flows of a network may have associations of different transports. An engine then calls the functions of its
slot `hosts` by kind.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from types import ModuleType
from typing import Any

from netcarlo.kernels.base.bind import Binder, Filled, Namespace, Step, compiled_by, once, together

KindOf = Callable[..., Any]
"""Returns the kind of a flow from the arguments of a function that is called by kind."""

Chosen = Mapping[str, tuple[ModuleType, Collection[str]]]
"""Module and names of the functions that are called by kind, by the slot that they fill."""

REST = -1
"""Number that stands for all kinds without an entry."""


def choose(
    step: Step,
    kinds: Mapping[int, Sequence[Filled]],
    chosen: Chosen,
    kind_of: KindOf,
    *,
    found: Mapping[str, Namespace] = {},
    inlined: Collection[ModuleType] = (),
    asked: set[str],
) -> dict[str, Namespace]:
    """Return the slots whose functions are `chosen` by kind, with those `found` before.

    `kinds` are the filled slots of each kind by number, with REST last. Functions of a slot find those chosen
    for the slots before it. The slots that they look up are added to `asked`.
    """
    compiled = compiled_by(step)
    spaces = dict(found)
    for slot, (module, names) in chosen.items():
        binders = [
            (number, Binder(step, {**together(*filled), **spaces}, inlined, compiled, asked))
            for number, filled in kinds.items()
        ]
        space = Namespace(slot)
        for name in names:
            each = [(number, binder.function(getattr(module, name))) for number, binder in binders]
            setattr(space, name, chain(step, each, kind_of))
        spaces[slot] = space
    return spaces


def chain(step: Step, functions: Sequence[tuple[int, Any]], kind_of: KindOf) -> Any:
    """Return one function that calls that of the kind; the last one serves all other kinds."""
    looked_up = Binder(step, compiled=compiled_by(step)).function(kind_of)
    *others, (_, found) = functions
    for number, function in reversed(others):
        found = once(step, _choice, looked_up, number, function, found)
    return found


def _choice(kind_of: Any, number: int, this: Any, rest: Any) -> Any:
    def choice(*arguments: Any) -> Any:
        if kind_of(*arguments) == number:
            return this(*arguments)
        return rest(*arguments)

    return choice
