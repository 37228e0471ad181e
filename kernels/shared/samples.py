"""Samples of flows: window and round-trip time of a sender at equal intervals."""

from typing import Any

from netcarlo.kernels.base.bind import slot
from netcarlo.kernels.base.inline import noinline
from netcarlo.kernels.base.parameters import RowP
from netcarlo.kernels.senders import UDP
from netcarlo.kernels.shared.layout import Flow
from netcarlo.kernels.shared.state import FlowWord, block_of

ends: Any = slot("ends")


def take_samples(p: Any, m: Any, f: Any, i: Any, until: Any) -> None:
    """Take the samples of flow `i` that are due by `until` [ns], from the present state of its sender."""
    while m[block_of(m, i) + FlowWord.SAMPLE] <= until:
        _sample(p, m, f, i)


@noinline
def _sample(p: Any, m: Any, f: Any, i: Any) -> None:
    """Take one sample of flow `i`."""
    b = block_of(m, i)
    if m[b + Flow.KIND] != UDP:
        ends.sample(m, b, f, i)
    m[b + FlowWord.SAMPLE] += p[RowP.SAMPLE]
