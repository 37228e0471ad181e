"""Cache of Numba's repeated queries during the compilation of a model.

A model uses few kinds of operations on few types. Of 6,000 queries for the type of `a + b`, 400 differ, and
each is tried with a dozen templates. Sizes of LLVM types (each time a module is written and parsed) and
failed lookups repeat as often. The answers are Numba's own.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from llvmlite import ir
from numba.core import base, types
from numba.core.types.functions import BaseFunction

_PLAIN = types.Number, types.Boolean, types.Array
"""Kinds of arguments whose types determine the answer; that of a function does not."""

Method = Callable[..., Any]


def _call_types(original: Method) -> Method:
    """Cache the signature of a call of a built-in function with arguments of these types."""
    known: dict[Any, Any] = {}

    def get_call_type(self: Any, context: Any, args: Any, kws: Any) -> Any:
        if kws or not all(isinstance(kind, _PLAIN) for kind in args):
            return original(self, context, args, kws)
        question = self, id(context), tuple(args)
        if question not in known:
            known[question] = original(self, context, args, kws)
        return known[question]

    return get_call_type


def _sizes(original: Method) -> Method:
    """Cache the size, or the alignment, of an LLVM type [bytes]."""
    known: dict[Any, Any] = {}

    def size(self: Any, target_data: Any, context: Any = None) -> Any:
        question = str(self), id(target_data), id(context)
        if question not in known:
            known[question] = original(self, target_data, context)
        return known[question]

    return size


def _functions(original: Method) -> Method:
    """Find the code of an operation; if there is none, do not search for new definitions."""

    def get_function(self: Any, fn: Any, sig: Any, _firstcall: bool = True) -> Any:
        return original(self, fn, sig, _firstcall and not isinstance(fn, str))

    return get_function


@contextmanager
def enabled(contexts: type = base.BaseContext) -> Iterator[None]:
    """Enable the cache; `contexts` is the class of a compiler's contexts, if it has its own."""
    patches = [
        (BaseFunction, "get_call_type", _call_types),
        (ir.Type, "get_abi_size", _sizes),
        (ir.Type, "get_abi_alignment", _sizes),
        (contexts, "get_function", _functions),
    ]
    originals = [(kind, name, getattr(kind, name)) for kind, name, _ in patches]
    try:
        for (kind, name, original), (*_, remembering) in zip(originals, patches, strict=True):
            setattr(kind, name, remembering(original))
        yield
    finally:
        for kind, name, original in originals:
            setattr(kind, name, original)
