"""Hints from the models to the compilers."""

from typing import Any


def noinline(function: Any) -> Any:
    """Mark a function as rarely called: it is compiled as a call, everything else inline."""
    function.noinline = True
    return function


def global_memory(m: Any) -> Any:
    """Scratch, for words of rings and tables alone: on a device those that a model calls near are elsewhere,
    and nobody looks for them there."""
    return m


def loop_header() -> None:
    """A turn of an event loop begins: a device reads near words again, instead of keeping them in registers,
    of which it has none to spare."""
