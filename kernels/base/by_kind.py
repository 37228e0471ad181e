"""Functions that look up the kind of a flow and call that kind's own function.

Flows of a mixture may have associations of different transports: then an engine calls all functions of its
slots `hosts` and `ends` by kind.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from types import ModuleType
from typing import Any

from netcarlo.kernels.base.bind import Binder, Filled, Namespace, Step, compiled_by, once, together

Choice = Callable[[int, Any, Any], Any]
"""Makes the function that calls `this` for flows of the kind `number`, and `rest` for all others."""

Chosen = Mapping[str, tuple[ModuleType, Mapping[str, Choice]]]
"""Functions of a module by the slot that they fill, each with how it finds the kind of its flow."""

REST = -1
"""Number that stands for all kinds without an entry."""


def choose(
    step: Step,
    kinds: Mapping[int, Sequence[Filled]],
    chosen: Chosen,
    *,
    inlined: Collection[ModuleType] = (),
    asked: set[str],
) -> dict[str, Namespace]:
    """Return the slots that are `chosen` by kind.

    `kinds` are the filled slots of each kind by number, with REST last. The slots that their functions look
    up are added to `asked`.
    """
    compiled = compiled_by(step)
    binders = [
        (number, Binder(step, together(*filled), inlined, compiled, asked))
        for number, filled in kinds.items()
    ]
    spaces = {}
    for slot, (module, functions) in chosen.items():
        spaces[slot] = Namespace(slot)
        for name, by in functions.items():
            each = [(number, binder.value(getattr(module, name), ())) for number, binder in binders]
            setattr(spaces[slot], name, chain(step, each, by))
    return spaces


def chain(step: Step, functions: Sequence[tuple[int, Any]], by: Choice) -> Any:
    """Return one function that calls that of the kind; the last one serves all other kinds."""
    *others, (_, found) = functions
    for number, function in reversed(others):
        found = once(step, by, number, function, found)
    return found
