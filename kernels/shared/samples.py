"""Samples of flows: the window and the round trip of a sender at equal intervals."""

from typing import Any

from netcarlo.kernels.base.bind import slot
from netcarlo.kernels.base.inline import noinline
from netcarlo.kernels.base.layout import P
from netcarlo.kernels.senders import UDP
from netcarlo.kernels.shared.layout import Flow
from netcarlo.kernels.shared.state import FlowWord, block_of

ends: Any = slot("ends")


def take_samples(p: Any, m: Any, f: Any, i: Any, until: Any) -> None:
    """Take the samples of flow `i` that are due by `until` [ns], from what its sender is now."""
    while m[block_of(m, i) + FlowWord.SAMPLE] <= until:
        _sample(p, m, f, i)


@noinline
def _sample(p: Any, m: Any, f: Any, i: Any) -> None:
    b = block_of(m, i)
    if m[b + Flow.KIND] != UDP:
        ends.sample(m, b, f, i)
    m[b + FlowWord.SAMPLE] += p[P.SAMPLE]
