"""Hot words of scratch, kept in a multiprocessor's shared memory on CUDA.

A store to global memory goes to the L2 cache, and the L1 cache of a multiprocessor does not hold the words of
all its threads.  So the scratch of a model with `Model.hot_words` has a type of its own.  For a constant
index, as most are, the compiler knows in which memory a word is; for any other index the code tests it.  A
view without hot words (`base.inline.global_memory`) needs no test.
"""

import operator
from typing import Any

from llvmlite import ir
from numba.cuda import types
from numba.cuda.cudaimpl import registry
from numba.cuda.datamodel.models import StructModel
from numba.cuda.extending import intrinsic
from numba.cuda.models import register_model

_WORD = ir.IntType(64)
_BYTE = ir.IntType(8)


class Scratch(types.Array):  # type: ignore[misc]
    """Type of a thread's scratch, of which the words of these `ranges` [from, to) are in shared memory.

    Consecutive words of a thread are `step` bytes apart.
    """

    def __init__(self, ranges: tuple[tuple[int, int], ...], step: int) -> None:
        self.ranges, self.step = ranges, step
        super().__init__(types.int64, 1, "A", name=f"scratch({ranges}, {step})")

    @property
    def key(self) -> Any:
        """Properties that distinguish types."""
        return self.ranges, self.step

    def copy(self, **_: Any) -> "Scratch":
        """Return the type of a slice."""
        return self


@register_model(Scratch)
class ScratchModel(StructModel):  # type: ignore[misc]
    """Data of a view: addresses of the shared and of all words of the thread, and the first word."""

    def __init__(self, manager: Any, kind: Any) -> None:
        word = types.CPointer(types.int64)
        super().__init__(manager, kind, [("shared", word), ("rest", word), ("first", types.intp)])


def _place(builder: Any, kind: Scratch, view: Any, index: Any) -> Any:
    """Return the address of a word."""

    def behind(pointer: Any, words: Any) -> Any:
        offset = builder.mul(words, _WORD(kind.step))
        byte = builder.gep(builder.bitcast(pointer, _BYTE.as_pointer()), [offset])
        return builder.bitcast(byte, pointer.type)

    word, before = builder.add(view.first, index), 0
    place = behind(view.rest, word)
    for low, high in kind.ranges:
        inside = builder.icmp_unsigned("<", builder.sub(word, _WORD(low)), _WORD(high - low))
        shared = behind(view.shared, builder.sub(word, _WORD(low - before)))
        place = builder.select(inside, shared, place)
        before += high - low
    return place


def _view(context: Any, builder: Any, kind: Scratch, value: Any = None) -> Any:
    return context.make_helper(builder, kind, value)


@registry.lower(operator.getitem, Scratch, types.Integer)  # type: ignore[untyped-decorator]
def _load(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    kind, index_kind = signature.args
    index = context.cast(builder, arguments[1], index_kind, types.intp)
    return builder.load(_place(builder, kind, _view(context, builder, kind, arguments[0]), index))


@registry.lower(operator.setitem, Scratch, types.Integer, types.Any)  # type: ignore[untyped-decorator]
def _store(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    kind, index_kind, value_kind = signature.args
    index = context.cast(builder, arguments[1], index_kind, types.intp)
    value = context.cast(builder, arguments[2], value_kind, kind.dtype)
    builder.store(value, _place(builder, kind, _view(context, builder, kind, arguments[0]), index))
    return context.get_dummy_value()


@registry.lower(operator.getitem, Scratch, types.SliceType)  # type: ignore[untyped-decorator]
def _slice(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    """Compile a slice that begins at a word."""
    kind = signature.args[0]
    view = _view(context, builder, kind, arguments[0])
    begin = context.make_helper(builder, signature.args[1], arguments[1]).start
    view.first = builder.add(view.first, begin)
    return view._getvalue()


@intrinsic  # type: ignore[untyped-decorator]
def global_memory(typing: Any, view: Any) -> Any:
    """Return a view of scratch without words in shared memory."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        if not isinstance(view, Scratch):
            return arguments[0]
        given, found = _view(context, builder, view, arguments[0]), _view(context, builder, kind)
        found.shared, found.rest, found.first = given.shared, given.rest, given.first
        return found._getvalue()

    kind = Scratch((), view.step) if isinstance(view, Scratch) else view
    return kind(view), generate


@intrinsic  # type: ignore[untyped-decorator]
def loop_header(typing: Any) -> Any:
    """Compile `base.inline.loop_header`: an empty instruction that may modify all memory."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        builder.asm(ir.FunctionType(ir.VoidType(), []), "", "~{memory}", [], True)
        return context.get_dummy_value()

    return types.none(), generate


def scratch(ranges: tuple[tuple[int, int], ...], step: int) -> Any:
    """Return an intrinsic that combines all words and shared memory for those of `ranges` into a scratch."""
    kind = Scratch(ranges, step)

    @intrinsic  # type: ignore[untyped-decorator]
    def make(typing: Any, words: Any, room: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            found = _view(context, builder, kind)
            found.rest, found.shared = (
                context.make_array(array)(context, builder, value).data
                for array, value in zip((words, room), arguments, strict=True)
            )
            found.first = _WORD(0)
            return found._getvalue()

        return kind(words, room), generate

    return make
