"""What a congestion control does that leaves a function out; `aimd` says what `grow` and `reduce` do."""

from typing import Any


def acked(packets: Any, memory: Any) -> None:
    """Before `grow`: so many packets have been acknowledged (see `bic`)."""


def on_ack(packets: Any, now: Any, rtt: Any, memory: Any) -> None:
    """At every ACK, whatever it does (see `westwood`)."""


def on_linux_ack(packets: Any, plain: Any, now: Any, rtt: Any, size: Any, memory: Any) -> None:
    """At every ACK of a sender like that of Linux (see `tcp.linux26`)."""


def min_cwnd(ssthresh: Any, size: Any, memory: Any) -> Any:
    """The window during a recovery of such a sender [packet]."""
    return ssthresh
