"""User's congestion control on current Linux, called when a loss is detected and at the end of each ACK."""

from types import ModuleType
from typing import Any

import numpy as np

from tests.twins.linux.bbr import PacedSender
from tests.twins.linux.receiver import Ack
from tests.twins.linux.sender import LinuxSender


class OwnSender(PacedSender):
    """Sender of Linux with the functions of a user's module."""

    module: ModuleType
    constants: Any

    def __init__(self, *arguments, **named) -> None:  # type: ignore[no-untyped-def]
        super().__init__(*arguments, **named)
        self.control = self.bbr = self  # type: ignore[assignment]
        self.window = 0.0
        self.memory = np.zeros(16)
        self.shrinks = self.timed_out = self.is_late = False

    def begin(self) -> None:
        self.delivered = self.app_limited = 1

    # Methods of a congestion control.

    def after_loss(self, cwnd: int) -> int:
        self.shrinks = not self.timed_out
        window, rate = self.module.reduce(
            float(cwnd), self.timed_out, self.simulation.now, max(self.rtt, 1), self.constants, self.memory
        )
        self.pace_at(rate)
        return int(max(window, 2.0))

    def measured(self, *arguments: object) -> None:
        """Do nothing: user functions get the smoothed RTT."""

    def on_restart(self) -> None:
        """Do nothing."""

    def pace_at(self, rate: float) -> None:
        self.rate = int(max(rate * self.p.DATA, 1.0))

    # Overridden methods of the sender.

    def timeout(self, *arguments: object) -> None:
        if arguments:  # called as its own congestion control
            self.shrinks = False
            return
        self.timed_out = True
        super().timeout()
        self.timed_out = False

    def too_late(self) -> None:
        before, self.shrinks, self.is_late = self.shrinks, False, True
        super().too_late()
        self.shrinks, self.is_late = self.shrinks or before, False

    def reduce(self, delivered: int, lost: int, *, advances: bool) -> None:
        """Reduce the window for a loss that a timer has detected, before anything is sent."""
        if self.is_late and self.shrinks:
            LinuxSender.reduce(self, 1, 1, advances=False)

    def take(self, ack: Ack) -> None:
        LinuxSender.take(self, ack)

    def set_window(self, acked: int, reported: bool, delivered: int, lost: int, latest: int) -> None:
        if self.delivered > self.app_limited:
            self.app_limited = 0
        now, rtt = self.simulation.now, max(self.rtt, 1)
        if hasattr(self.module, "on_ack"):
            self.module.on_ack(delivered, now, rtt, self.memory)
        if self.reducing():
            LinuxSender.reduce(self, delivered, lost, advances=acked > 0)
            return
        if self.shrinks:
            self.cwnd, self.shrinks = self.ssthresh, False
        if acked:
            if hasattr(self.module, "acked"):
                self.module.acked(delivered, self.memory)
            cwnd = self.window if int(self.window) == self.cwnd else float(self.cwnd)
            self.window, rate = self.module.grow(
                cwnd, float(self.ssthresh), now, rtt, self.constants, self.memory
            )
            self.cwnd = int(self.window)
            self.pace_at(rate)

    def restore_window(self) -> None:
        self.cwnd, self.shrinks = max(self.cwnd, self.prior_window), False
