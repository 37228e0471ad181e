"""Congestion control of a subflow that is coupled to the others; `linux.reno` describes the functions."""

from enum import IntEnum
from typing import Any

from netcarlo.kernels.linux import reno
from netcarlo.kernels.linux.reno import on_idle_restart, pkts_acked
from netcarlo.kernels.linux.state import FIRST, INFINITE, Tcp
from netcarlo.kernels.mptcp.coupled import balia, lia, olia
from netcarlo.kernels.mptcp.coupled.peers import Coupled

__all__ = [
    "Algorithm", "acked_per_increase", "on_idle_restart", "on_rto", "pkts_acked", "prepare", "ssthresh",
]  # fmt: skip


class Algorithm(IntEnum):
    """Values of `MptcpP.COUPLING`."""

    LIA = 1
    """Linked increases (RFC 6356)."""
    OLIA = 2
    """Opportunistic linked increases (Khalili et al. 2013)."""
    BALIA = 3
    """Balanced linked adaptation (Peng et al. 2016)."""


def prepare(s: Any) -> None:
    """Begin the first interval between losses with the first data."""
    s[Coupled.LOSS_1] = s[Coupled.LOSS_2] = FIRST


def acked_per_increase(p: Any, s: Any, now: Any, acked: Any) -> Any:
    """Return the packets that must be acknowledged for the window to grow by one; OLIA sets the window
    itself."""
    if s[Coupled.ALGORITHM] == Algorithm.LIA:
        return lia.acked_per_increase(s)
    if s[Coupled.ALGORITHM] == Algorithm.BALIA:
        return balia.acked_per_increase(s)
    olia.grow(s, acked)
    s[Tcp.CWND_CNT] = -acked
    return INFINITE


def ssthresh(s: Any) -> Any:
    """Return the threshold after a loss: half the window, at least 2 packets, or that of BALIA."""
    if s[Coupled.ALGORITHM] == Algorithm.OLIA:
        olia.on_loss(s)
    if s[Coupled.ALGORITHM] == Algorithm.BALIA:
        return balia.ssthresh(s)
    return reno.ssthresh(s)


def on_rto(p: Any, s: Any, now: Any) -> None:
    """Restart slow start."""
    if s[Coupled.ALGORITHM] == Algorithm.OLIA:
        olia.on_loss(s)
    reno.on_rto(p, s, now)
