"""Functions of shared links that look up the kind of a flow, where kinds have their own associations."""

from typing import Any

from netcarlo.kernels.base.by_kind import Chosen
from netcarlo.kernels.shared import ends, hosts
from netcarlo.kernels.shared.layout import Flow

_KIND = int(Flow.KIND)


def _by_block(number: int, this: Any, rest: Any) -> Any:
    def choose(m: Any, b: Any, *others: Any) -> Any:
        if m[b + _KIND] == number:
            return this(m, b, *others)
        return rest(m, b, *others)

    return choose


OF_HOSTS = "on_event", "next_event", "receive", "return_ack"
OF_ENDS = "size_of", "prepare", "sample", "count", "sequence_of", "show"
CHOSEN: Chosen = {
    "hosts": (hosts, dict.fromkeys(OF_HOSTS, _by_block)),
    "ends": (ends, dict.fromkeys(OF_ENDS, _by_block)),
}
"""Module and lookup of the flow of these functions, by the slot that they fill."""
