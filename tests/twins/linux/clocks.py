"""The kernel's clocks: microseconds, milliseconds of timestamps, jiffies, and the timer wheel."""

from tests.twins.parameters import Parameters

MS = 1_000_000


class Clocks:
    """Clocks of the kernel.

    Except the clock of microseconds, they are `CLOCK_PHASE` ahead of the simulation.
    """

    def __init__(self, parameters: Parameters) -> None:
        self.phase = parameters.CLOCK_PHASE
        self.jiffy = parameters.TICK

    def ms(self, now: int) -> int:
        return (now + self.phase) // MS

    def jiffies(self, now: int) -> int:
        return (now + self.phase) // self.jiffy

    def in_jiffies(self, us: int) -> int:
        """Return a duration in jiffies, rounded up."""
        return -(-us // (self.jiffy // 1000))

    def expiry(self, now: int, jiffies: int) -> int:
        """Return the expiry of a timer [ns]; level k of the wheel expires at multiples of 8**k jiffies, never
        early.
        """
        level = 0
        while jiffies >= 63 * 8**level and level < 8:
            level += 1
        step = 8**level
        edge = ((self.jiffies(now) + jiffies) // step + 1) * step
        return edge * self.jiffy - self.phase
