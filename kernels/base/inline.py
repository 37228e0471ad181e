"""Hints of the models for the compilers."""

from typing import Any


def noinline(function: Any) -> Any:
    """Mark a function as rarely called. It is compiled as a call; all others are inlined."""
    function.noinline = True
    return function


def global_memory(m: Any) -> Any:
    """Return scratch for access to rings and tables only.

    On a device the hot words of a model are in shared memory; this view is known to contain none of them.
    """
    return m


def loop_header() -> None:
    """Mark the start of an iteration of the event loop.

    A device then reads hot words again instead of keeping them in registers, which are scarce.
    """
