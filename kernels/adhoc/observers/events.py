"""Events of an ad hoc network that observers may record (`base.observers`). These functions record nothing.

`m` is scratch, `f` are the sender's floats, `t` is the time [ns], `e` is an event of the flow (`port.Event`).
`trace` are the rows of the trace; it has no rows if no trace is written.
"""

from typing import Any


def prepare(m: Any, free: Any) -> Any:
    """Initialise the observer, whose words begin at `free`; return the next free word."""
    return free


def on_start(m: Any, trace: Any) -> None:
    """Record the network at time 0."""


def on_leg(m: Any, trace: Any, t: Any, i: Any) -> None:
    """Record that node i starts another leg of its motion."""


def on_link(m: Any, trace: Any, t: Any, i: Any, j: Any) -> None:
    """Record that the link between two nodes appears or breaks."""


def on_frames(m: Any, f: Any, trace: Any, t: Any, nodes: Any) -> None:
    """Record that `nodes`, a set (`sets`), start to transmit a frame."""


def on_retry_limit(m: Any, f: Any, trace: Any, t: Any, head: Any, i: Any) -> None:
    """Record that node i discards a frame, with this first word, after its last attempt."""


def on_arrival(m: Any, f: Any, trace: Any, t: Any, head: Any, lost: Any) -> None:
    """Record that a data frame reaches the sink's node; `lost`: its packet has a residual error."""


def on_sent(e: Any) -> None:
    """Record that the source has sent what its window permits."""


def on_timeout(e: Any) -> None:
    """Record a retransmission timeout."""


def on_ack(e: Any) -> None:
    """Record that the sender has processed an acknowledgement."""


def on_delivered(e: Any, packet: Any) -> None:
    """Record new data in a packet that arrives."""


def report(m: Any, out: Any, at: Any) -> Any:
    """Write the outcomes of the observer, the last ones before column `at`; return the first of them."""
    return at
