"""What a model fills in: a scheme of loss recovery and a congestion control, and what follows from them."""

from types import ModuleType
from typing import Any

from netcarlo.kernels.base.bind import Namespace, stacked
from netcarlo.kernels.congestion import aimd, defaults
from netcarlo.kernels.tcp import copies, linux26, new_probing, one, recovery, rto, scoreboard, state
from netcarlo.kernels.tcp.state import Ack


def whole(scheme: ModuleType) -> Namespace:
    """A scheme of loss recovery, completed by what it takes from its bases."""
    modules = [scheme]
    while modules[0] is not recovery:
        modules.insert(0, modules[0].BASE)
    return stacked(scheme.__name__, *modules)


def of_sender(scheme: ModuleType, control: ModuleType) -> dict[str, Any]:
    """The slots of `sender` and all below it for flows of one kind."""
    control = stacked(control.__name__, aimd, defaults, control)
    inner = control
    if scheme is new_probing:
        control = stacked(control.__name__, control, _only(new_probing, "reduce"))
    variant = whole(scheme)
    return {
        "variant": variant, "control": control, "inner": inner, "kind": one,
        "clock": linux26 if variant.STAMPS else rto,
        **facts(variant),
    }  # fmt: skip


def facts(variant: Any) -> dict[str, Any]:
    """What is known of a scheme of recovery before anything runs."""
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


def scratch_words(scheme: ModuleType, window: Any, ring: Any) -> Any:
    """Words of scratch of an association with this scheme of recovery, see `state.scratch_words`."""
    words = state.scratch_words(window, ring)
    if scheme is linux26:
        words += scoreboard.scratch_words(ring) + copies.scratch_words(ring)
    return words
