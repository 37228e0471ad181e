"""TCP flows of different kinds in one kernel: a variant whose functions ask for the kind of the flow."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from netcarlo.kernels.congestion import aimd, bic, cubic, westwood
from netcarlo.kernels.shared.layout import BIC, CUBIC, NEWRENO, RENO, SACK, TAHOE, VEGAS, WESTWOOD, Flow
from netcarlo.kernels.tcp import newreno, reno, sack, tahoe, vegas
from netcarlo.kernels.tcp.recovery import STATE_WORDS, Variant
from netcarlo.kernels.tcp.sender import Kinds, one_kind

PARTS: dict[int, tuple[Any, Any]] = {
    TAHOE: (tahoe, aimd),
    RENO: (reno, aimd),
    NEWRENO: (newreno, aimd),
    SACK: (sack, aimd),
    VEGAS: (vegas, aimd),
    BIC: (sack, bic),
    CUBIC: (sack, cubic),
    WESTWOOD: (sack, westwood),
}
"""Loss recovery and congestion control of each kind."""

_KIND = STATE_WORDS - 1  # word of scratch: the kind


def make_mixture(dev: Callable[[Any], Any]) -> Kinds:
    """Compile flows of all kinds; `p` are the columns of `Flow`."""
    parts = {kind: one_kind(dev, module.make, control) for kind, (module, control) in PARTS.items()}

    def of_variant(name: str) -> Any:
        functions = [(kind, getattr(part.variant, name)) for kind, part in parts.items()]
        return _chain(dev, functions, _by_word)

    def of_kind(name: str) -> Any:
        return _chain(dev, [(kind, getattr(part, name)) for kind, part in parts.items()], _by_flow)

    prepare_of = of_variant("prepare")

    def prepare(m: Any, parameters: Any, free: Any) -> Any:
        m[_KIND] = parameters[Flow.KIND]
        return prepare_of(m, parameters, free)

    def first_of(p: Any) -> Any:
        return np.int64(0) if p[Flow.KIND] == VEGAS else np.int64(1)

    def sack_of(p: Any) -> Any:
        return p[Flow.KIND] == SACK or p[Flow.KIND] >= BIC

    names = "new_ack", "grow", "dup_ack", "timeout", "next_packet", "on_send"
    functions = {name: of_variant(name) for name in names}
    variant = Variant(prepare=dev(prepare), heard=None, sack=True, **functions)
    return Kinds(variant, dev(first_of), dev(sack_of), of_kind("heard"), of_kind("reduce"))


def _by_flow(kind: int, this: Any, rest: Any) -> Any:
    def choose(p: Any, *others: Any) -> Any:
        if p[Flow.KIND] == kind:
            return this(p, *others)
        return rest(p, *others)

    return choose


def _by_word(kind: int, this: Any, rest: Any) -> Any:
    def choose(m: Any, *others: Any) -> Any:
        if m[_KIND] == kind:
            return this(m, *others)
        return rest(m, *others)

    return choose


def _chain(dev: Callable[[Any], Any], functions: Sequence[tuple[int, Any]], by: Any) -> Any:
    # One function that calls that of the kind; the last one needs no question.
    *others, (_, chain) = functions
    for kind, function in reversed(others):
        chain = dev(by(kind, function, chain))
    return chain
