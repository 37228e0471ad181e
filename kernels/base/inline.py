"""Hints from the models to the compilers."""

from typing import Any


def cold(function: Any) -> Any:
    """Mark a function as rarely called: it is compiled as a call, everything else inline."""
    function.cold = True
    return function
