"""Composition of the observers of an engine.

An engine has a slot `observer` and calls its functions, which are named after events. Observers record what
happens and change none of it. A kind of network has a module of events that do nothing, and observers:
modules with functions for some of these events.
"""

from types import FunctionType, ModuleType
from typing import Any

from netcarlo.kernels.base.bind import Namespace, stacked


def composed(events: ModuleType, *observers: ModuleType) -> Namespace:
    """Return the functions of `events`, each replaced by those of its name in `observers`.

    If several observers have one, they are called in turn. Each gets the same arguments, except that the last
    one of an event that returns something is what the observer before returned (a place in an array).
    """
    found = stacked("observer", events)
    for observer in observers:
        for name, nothing in _functions(events).items():
            if name in _functions(observer):
                before, then = vars(found)[name], vars(observer)[name]
                setattr(found, name, then if before is nothing else _in_turn(name, before, then))
    return found


def _functions(module: ModuleType) -> dict[str, FunctionType]:
    """Return the functions that a module defines, by name."""
    return {
        name: value
        for name, value in vars(module).items()
        if isinstance(value, FunctionType) and value.__module__ == module.__name__
    }


def _in_turn(name: str, first: FunctionType, then: FunctionType) -> FunctionType:
    """Return a function that calls two others; those named `on_...` return nothing."""
    both = _both if name.startswith("on_") else _through
    here = {"__name__": __name__, "first": first, "then": then}
    return FunctionType(both.__code__, here, name)


first: Any = None
then: Any = None


def _both(*arguments: Any) -> None:
    first(*arguments)
    then(*arguments)


def _through(*arguments: Any) -> Any:
    return then(*arguments[:-1], first(*arguments))
