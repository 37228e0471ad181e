"""What Numba asks again and again while it compiles a model, answered once.

A model's functions are a few kinds of operations on a few kinds of integers and arrays: of 6,000 questions
for the type of `a + b` 400 differ, and each is put to a dozen templates.  So with the sizes of LLVM's types
(each time a module is written and parsed), and with what does not exist.  The answers are Numba's own.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from llvmlite import ir
from numba.core import base, types
from numba.core.types.functions import BaseFunction

_PLAIN = types.Number, types.Boolean, types.Array
"""Kinds of arguments whose types say all there is: that of a function would not."""

Method = Callable[..., Any]


def _call_types(original: Method) -> Method:
    """The signature by which a built-in function is called with arguments of these types."""
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
    """The size, or the alignment, of a type of LLVM's [bytes]."""
    known: dict[Any, Any] = {}

    def size(self: Any, target_data: Any, context: Any = None) -> Any:
        question = str(self), id(target_data), id(context)
        if question not in known:
            known[question] = original(self, target_data, context)
        return known[question]

    return size


def _functions(original: Method) -> Method:
    """The code of an operation; if there is none, Numba would look whether some has been added meanwhile."""

    def get_function(self: Any, fn: Any, sig: Any, _firstcall: bool = True) -> Any:
        return original(self, fn, sig, _firstcall and not isinstance(fn, str))

    return get_function


@contextmanager
def enabled(contexts: type = base.BaseContext) -> Iterator[None]:
    """Remember them meanwhile; `contexts` are a compiler's own, where it has a class of its own."""
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
