"""Shortcuts through Numba: work that is repeated, or whose result no kernel needs.

Two thirds of the compile time of a model are spent in Numba's Python code, about 40 ms for each of its 250
functions. The LLVM code is the same with and without shortcuts.
"""

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

from numba.core import base, event, ir, postproc, transforms
from numba.core.typing import context as typing

Method = Callable[..., Any]


def _no_timer(original: Method) -> Method:
    """Return a timer that measures nothing: otherwise each function on the stack of compilations times every
    call of LLVM."""

    def install_timer(kind: str, callback: Method) -> Any:
        return nullcontext()

    return install_timer


def _no_event(original: Method) -> Method:
    """Return a function that broadcasts no events: nothing listens."""

    def event(kind: str, data: Any = None, exc_details: Any = None) -> None:
        pass

    return event


def _lifetimes(original: Method) -> Method:
    """Compute lifetimes of variables only where `del` statements are inserted.

    Each of seven passes computes them, but only generators and lifted loops need them.
    """

    def run(self: Any, emit_dels: bool = False, extend_lifetimes: bool = False) -> None:
        if self.func_ir.is_generator:
            original(self, emit_dels, extend_lifetimes)
            return
        self.func_ir.blocks = transforms.canonicalize_cfg(self.func_ir.blocks)
        self.func_ir.variable_lifetime = postproc.VariableLifetime(self.func_ir.blocks)
        self.func_ir.generator_info = None
        if emit_dels:
            self._insert_var_dels(extend_lifetimes=extend_lifetimes)

    return run


def _variables(original: Method) -> Method:
    """Find the variables of an instruction without a call for each of its attributes."""
    variable, instruction = ir.Var, ir.Inst

    def variables(self: Any, value: Any) -> list[Any]:
        found: list[Any] = []
        for each in value.values() if isinstance(value, dict) else value:
            if isinstance(each, variable):
                found.append(each)
            elif isinstance(each, instruction):
                found += each.list_vars()
            elif isinstance(each, list | tuple | dict):
                found += variables(self, each)
        return found

    return variables


def _once(original: Method) -> Method:
    """Search for new declarations of built-in functions once, not for each function."""
    done: set[int] = set()

    def refresh(self: Any) -> None:
        if id(self) not in done:
            done.add(id(self))
            original(self)

    return refresh


def _types_of_constants(original: Method) -> Method:
    """Cache the types of numbers, functions and modules to which functions refer."""
    known: dict[Any, Any] = {}

    def resolve_value_type(self: Any, value: Any) -> Any:
        kind = type(value)
        question = id(self), kind, value if kind in (int, float, bool) else id(value)
        if question not in known:
            known[question] = original(self, value), value  # keeps the object alive whose id is the key
        return known[question][0]

    return resolve_value_type


_SHORTCUTS: list[tuple[Any, str, Callable[[Method], Method]]] = [
    (event, "install_timer", _no_timer),
    (event, "start_event", _no_event),
    (event, "end_event", _no_event),
    (postproc.PostProcessor, "run", _lifetimes),
    (ir.Inst, "_rec_list_vars", _variables),
    (base, "_has_loc", functools.cache),
    (base.BaseContext, "refresh", _once),
    (typing.BaseContext, "refresh", _once),
    (typing.BaseContext, "resolve_value_type", _types_of_constants),
]


@contextmanager
def enabled() -> Iterator[None]:
    """Enable the shortcuts."""
    originals = [(owner, name, getattr(owner, name)) for owner, name, _ in _SHORTCUTS]
    try:
        for (owner, name, original), (*_, shortcut) in zip(originals, _SHORTCUTS, strict=True):
            setattr(owner, name, shortcut(original))
        yield
    finally:
        for owner, name, original in originals:
            setattr(owner, name, original)
