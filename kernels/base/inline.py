"""Hints from the models to the compilers."""

from typing import Any


def cold(function: Any) -> Any:
    """Mark a function as rarely called: it is compiled as a call, everything else inline."""
    function.cold = True
    return function


def far(m: Any) -> Any:
    """Scratch, for words of rings and tables alone: on a device words that are touched with every packet, as
    a model names them, are elsewhere, and nobody looks for them there."""
    return m


far.elsewhere = True  # type: ignore[attr-defined]
