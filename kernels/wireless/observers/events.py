"""Events of an 802.11 network that observers may record (`base.observers`). Here nothing is recorded.

`m` is scratch, `f` are the floats of the senders, `t` is the time [ns]. `trace` are the rows of the trace; it
has none if no trace is written.
"""

from typing import Any


def prepare(m: Any, free: Any) -> Any:
    """Initialise the observer, whose words begin at `free`; return the next free word."""
    return free


def on_transmission(m: Any, f: Any, trace: Any, t: Any, first_node: Any) -> None:
    """Record that nodes, from `first_node` on, begin to transmit frames."""


def on_received(m: Any, f: Any, trace: Any, t: Any, frame: Any, node: Any) -> None:
    """Record that a node has received a data frame."""


def on_lost(m: Any, frame: Any, node: Any, cause: Any) -> None:
    """Record that a frame is lost at a node, or NOBODY; `cause` is the column of `FlowOut` that counts it."""


def on_timeout(m: Any, flow: Any, node: Any) -> None:
    """Record a retransmission timeout of a flow whose source is at this node."""


def on_event_end(m: Any, f: Any, trace: Any, t: Any) -> None:
    """Record that an event is processed."""


def on_delivered(m: Any, at: Any, t: Any, delay: Any) -> None:
    """Record new data of the flow at word `at`, `delay` [ns] after they were first sent."""


def report(m: Any, nodes: Any, out: Any, at: Any) -> Any:
    """Write the outcomes of the observer, the last ones before column `at`; return the first of them."""
    return at
