"""Defaults of the optional functions of a congestion control; `aimd` describes `grow` and `reduce`."""

from typing import Any


def acked(packets: Any, memory: Any) -> None:
    """Do nothing before `grow`; `packets` are newly acknowledged (see `bic`)."""


def on_ack(packets: Any, now: Any, rtt: Any, memory: Any) -> None:
    """Do nothing at an ACK (see `westwood`)."""


def on_linux_ack(packets: Any, plain: Any, now: Any, rtt: Any, size: Any, memory: Any) -> None:
    """Do nothing at an ACK of a sender like that of Linux 2.6 (see `tcp.linux26`)."""


def min_cwnd(ssthresh: Any, size: Any, memory: Any) -> Any:
    """Return ssthresh as the window during a recovery of such a sender [packets]."""
    return ssthresh
