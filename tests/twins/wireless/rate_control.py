"""Rate control of a link: fixed, ARF (Kamerman and Monteban 1997), or AARF (Lacage et al. 2004)."""

from typing import Any

from netcarlo.kernels.wireless.layout import AARF, FIXED


class RateControl:
    """Rate control that goes up after successes in a row or a number of attempts, and down after failures in
    a row.
    """

    sampling = False

    def __init__(self, radio: Any, link: Any) -> None:
        self.radio = radio
        self.rate = link.RATE
        self.lowest, self.highest = link.LOWEST, link.HIGHEST
        self.good = 0  # successes in a row
        self.retry = 0  # failures in a row
        self.timer = 0  # attempts since the last change
        self.probing = False  # the rate was just increased
        self.up = radio.ARF_UP
        self.wait = radio.ARF_TIMER

    def choose(self, _now: int, *, first: bool) -> None:
        """Return the present rate for a PPDU."""

    def finish(self, _now: int, _mpdus: int, _good: int, *, answered: bool) -> None:
        """Process the end of an exchange of EDCA."""
        if answered:
            self.ok()
        else:
            self.failed()

    def failed(self) -> None:
        if self.radio.RATE_CONTROL == FIXED:
            return
        self.timer += 1
        self.retry += 1
        self.good = 0
        if self.probing:
            if self.retry == 1:
                self._threshold(self.radio.AARF_FACTOR)
                self._down()
            self.timer = 0
        else:
            if self.retry % self.radio.ARF_DOWN == 0:
                self._threshold(0)
                self._down()
            if self.retry >= self.radio.ARF_DOWN:
                self.timer = 0

    def ok(self) -> None:
        if self.radio.RATE_CONTROL == FIXED:
            return
        self.timer += 1
        self.good += 1
        self.retry = 0
        self.probing = False
        if (self.good == self.up or self.timer == self.wait) and self.rate < self.highest:
            self.rate += 1
            self.timer = 0
            self.good = 0
            self.probing = True

    def _down(self) -> None:
        self.rate = max(self.rate - 1, self.lowest)

    def _threshold(self, factor: int) -> None:
        """Multiply the threshold by `factor` after a failed probe of AARF; 0 resets it."""
        if self.radio.RATE_CONTROL != AARF:
            return
        if factor:
            self.up = min(self.up * factor, self.radio.AARF_MOST)
            self.wait = max(self.wait * factor, self.radio.ARF_TIMER)
        else:
            self.up = self.radio.ARF_UP
            self.wait = self.radio.ARF_TIMER
