"""Checks of the arguments of public functions before any work, by annotation and by a table of rules."""

import functools
import inspect
import math
import os
import types
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ParamSpec, TypeVar, Union, get_args, get_origin

import numpy as np

from netcarlo.errors import InputError

P = ParamSpec("P")
R = TypeVar("R")


@dataclass(frozen=True)
class Rule:
    """Rule for the values of an argument. None is also allowed where it is the default."""

    allowed: str
    """Allowed values in words, for messages."""
    fits: Callable[[Any], bool]
    made: Callable[[Any], Any] = lambda value: value
    """Function that converts an accepted value to the one passed on."""
    none: str = ""
    """Meaning of None in words; empty where None has no meaning of its own."""


def _whole(low: int, high: int, none: str = "") -> Rule:
    def fits(value: Any) -> bool:
        whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
        return bool(whole and low <= value <= high)

    return Rule(f"a whole number from {low} to {high}", fits, int, none)


def _share(value: Any) -> bool:
    if isinstance(value, str):
        return bool(value.strip())
    number = isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)
    return number and 0 < float(value) < math.inf


def _plain(value: Any) -> str | float:
    return value if isinstance(value, str) else float(value)


def _path(value: Any) -> bool:
    return isinstance(value, str | os.PathLike) and "\0" not in os.fspath(value)


def _texts(value: Any) -> bool:
    several = isinstance(value, Sequence) and not isinstance(value, str)
    return several and all(isinstance(one, str) for one in value)


def _paths(value: Any) -> bool:
    several = isinstance(value, Sequence) and not isinstance(value, str)
    return several and all(_path(one) for one in value)


def _several(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str | bytes)


def _effort(value: Any) -> bool:
    return not isinstance(value, str) and _share(value) and 0.1 <= float(value) <= 100


def _fields(value: Any) -> bool:
    return isinstance(value, Mapping) and all(isinstance(name, str) for name in value)


def _scheduler(value: Any) -> bool:
    return isinstance(value, str) or isinstance(getattr(value, "scheduler_address", None), str)


RULES = {
    "threads": _whole(1, 4096, "for all cores"),
    "workers": _whole(1, 4096, "for threads of this process"),
    "scheduler": Rule("an address such as 'tcp://machine:8786', or a cluster of Dask", _scheduler),
    "replications": _whole(1, 2**32, "for those of the scenario"),
    "replication": _whole(0, 2**32 - 1),
    "first": _whole(0, 2**32 - 1),
    "seed": _whole(0, 2**63 - 1, "for that of the scenario"),
    "precision": Rule("a share above 0 such as 0.01, or a text such as '1 %'", _share, _plain),
    "goals": Rule("a list of texts such as 'goodput_bps >= 1 Mbit/s'", _texts),
    "names": Rule("a list of names or folders of studies", _paths),
    "values": Rule("a mapping from dotted names of fields to values", _fields),
    "folder": Rule("the path of a folder", _path, Path),
    "runs": Rule("a list of files or measured runs", _several),
    "effort": Rule("a number from 0.1 to 100", _effort, float),
    "out": Rule("a path", _path),
}
"""Rules by the name of the parameter, for every function that has it."""


def checked(function: Callable[P, R]) -> Callable[P, R]:
    """Decorate a function so that each call checks its arguments. Raises InputError with argument, value
    and allowed values."""
    signature = inspect.signature(function)
    rules = {name: _rule(parameter) for name, parameter in signature.parameters.items() if name != "self"}

    @functools.wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        bound = signature.bind(*args, **kwargs)
        for name in rules.keys() & bound.arguments.keys():
            parameter, value = signature.parameters[name], bound.arguments[name]
            if parameter.kind is inspect.Parameter.VAR_POSITIONAL:
                bound.arguments[name] = tuple(_one(name, each, rules[name], parameter) for each in value)
            else:
                bound.arguments[name] = _one(name, value, rules[name], parameter)
        return function(*bound.args, **bound.kwargs)

    return call


def _one(name: str, value: Any, rule: Rule, parameter: inspect.Parameter) -> Any:
    if value is None and parameter.default is None:
        return None
    if rule.fits(value):
        return rule.made(value)
    try:
        shown = repr(value)
    except Exception:  # raised by a class of the user
        shown = type(value).__name__
    shown = shown if len(shown) <= 80 else f"{shown[:77]}..."
    optional = parameter.default is None
    none = ", or None" if optional and not rule.none else ""
    remedy = f"; leave it out {rule.none}" if optional and rule.none else ""  # on the command line, too
    raise InputError(f"{name} = {shown} is not allowed; expected {rule.allowed}{none}{remedy}")


def _rule(parameter: inspect.Parameter) -> Rule:
    return RULES.get(parameter.name) or _of_type(parameter.annotation)


def _members(annotation: Any) -> Sequence[Any]:
    """Return the member types of a union, or the type itself."""
    several = get_origin(annotation) in (Union, types.UnionType)
    return get_args(annotation) if several else [annotation]


def _of_type(annotation: Any) -> Rule:
    """Return the rule for a parameter with this annotation, which may be a union."""
    found = [get_origin(one) or one for one in _members(annotation)]
    classes = tuple(one for one in found if one is not type(None))
    paths = not {Path, os.PathLike}.isdisjoint(classes)
    if paths:
        classes = (*classes, os.PathLike)
    if bool in classes:
        classes = (*classes, np.bool_)
    of_texts = any(get_origin(one) is Sequence and get_args(one) == (str,) for one in _members(annotation))
    shown = [_NAMES.get(one, one.__name__) for one in classes if one not in (os.PathLike, np.bool_)]
    words = " or ".join(filter(None, (", ".join(shown[:-1]), shown[-1])))

    def fits(value: Any) -> bool:
        if of_texts and not isinstance(value, str):
            return isinstance(value, classes) and _texts(value)
        return isinstance(value, classes) and not (paths and isinstance(value, str) and "\0" in value)

    return Rule(words, fits)


_NAMES: dict[Any, str] = {
    str: "a text", Sequence: "a list of texts", bool: "True or False", Callable: "a function",
}  # fmt: skip
