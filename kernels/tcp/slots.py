"""What a model fills in: a way of loss recovery and a congestion control, and what follows from them."""

from types import ModuleType
from typing import Any

from netcarlo.kernels.base.bind import Namespace, stacked
from netcarlo.kernels.congestion import aimd, defaults
from netcarlo.kernels.tcp import copies, linux, new_probing, one, recovery, rto, scoreboard, state
from netcarlo.kernels.tcp.state import Ack


def whole(way: ModuleType) -> Namespace:
    """A way of loss recovery with what it leaves out, which is that of its bases."""
    modules = [way]
    while modules[0] is not recovery:
        modules.insert(0, modules[0].BASE)
    return stacked(way.__name__, *modules)


def of_sender(way: ModuleType, control: ModuleType) -> dict[str, Any]:
    """The slots of `sender` and all below it for flows of one kind."""
    control = stacked(control.__name__, aimd, defaults, control)
    inner = control
    if way is new_probing:
        control = stacked(control.__name__, control, _only(new_probing, "reduce"))
    variant = whole(way)
    return {
        "variant": variant, "control": control, "inner": inner, "kind": one,
        "clock": linux if variant.STAMPS else rto,
        **facts(variant),
    }  # fmt: skip


def facts(variant: Any) -> dict[str, Any]:
    """What is known of a way of recovery before anything runs."""
    words = int(Ack.BLOCK)
    if variant.SACK or variant.MARKS:
        words = int(Ack.STAMP) + variant.STAMPS
    return {
        "first": variant.FIRST, "sack": variant.SACK, "pauses": variant.PAUSES, "marks": variant.MARKS,
        "stamps": variant.STAMPS, "ack_words": words, "plain": False, "delays": True,
        "copied": variant.STAMPS,
    }  # fmt: skip


def _only(module: ModuleType, *names: str) -> Namespace:
    space = Namespace(module.__name__)
    vars(space).update({name: vars(module)[name] for name in names})
    return space


def scratch_words(way: ModuleType, window: Any, ring: Any) -> Any:
    """Words of scratch of an association with this way of recovery, see `state.scratch_words`."""
    words = state.scratch_words(window, ring)
    if way is linux:
        words += scoreboard.scratch_words(ring) + copies.scratch_words(ring)
    return words
