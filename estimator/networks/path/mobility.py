"""Mobility of a host: when it changes its access router, by which protocol, and how long that takes."""

import math
from enum import IntEnum
from typing import Annotated, ClassVar, Literal, Self

import numpy as np
from pydantic import Field, model_validator

from netcarlo.errors import InputError
from netcarlo.kernels.base import layout
from netcarlo.kernels.base.layout import ENDLESS, NS
from netcarlo.kernels.base.parameters import MobileP
from netcarlo.numerics.arrays import Floats, Ints
from netcarlo.schema.draws import Draws
from netcarlo.schema.quantity import Delay, Duration, Length, Probability, Room, Routers, Speed, Time, bounds
from netcarlo.schema.record import Record

PROTOCOLS = {
    "mipv6": layout.MIPV6,
    "hmipv6": layout.HMIPV6,
    "fmipv6": layout.FMIPV6,
    "s_binding": layout.S_BINDING,
    "s_mip": layout.S_MIP,
    "fhmipv6": layout.FHMIPV6,
    "himipv6": layout.HIMIPV6,
}

MAX_HANDOVERS = 4096
"""Maximum number of handovers in a run."""

_WORD = 2.0**32  # scale of probabilities


class Mobility(Record):
    """Mobility of the receiver, which attaches to a sequence of access routers; the last hop is its radio
    link.

    Give exactly one schedule: `times`, `every`, or `cell_radius` and `speed`.
    """

    protocol: Literal[tuple(PROTOCOLS)]  # type: ignore[valid-type]
    """Protocol that manages handovers."""

    times: Annotated[list[Time], Field(max_length=MAX_HANDOVERS)] | None = None
    """Times at which the link goes down for a handover."""
    every: Duration | None = None
    """Interval between handovers, in place of `times`."""
    first: Time | None = None
    """Time of the first handover, with `every`. Default: the value of `every`."""
    cell_radius: Length | None = None
    """Radius of circular cells that the host crosses along random chords, in place of `times`; requires
    `speed`."""
    speed: Speed | None = None
    """Speed at which the host crosses cells; requires `cell_radius`."""
    least_stay: Duration = 0.5
    """Minimum time at one access router."""

    outage: Duration = 0.15
    """Duration for which the radio link is down in a handover."""
    outage_jitter: Time = 0.0
    """Maximum deviation of this duration for each handover; uniformly distributed."""

    domain_size: Routers = 2.0
    """Number of access routers of one MAP; `unlimited` if all handovers are inside a domain."""
    map_to_ar: Delay = 0.01
    """One-way delay between a MAP and its access routers."""
    map_to_map: Delay = 0.02
    """One-way delay between two MAPs."""
    home_agent: Delay = 0.1
    """One-way delay between the home agent and a MAP, and between the home agent and the sender."""

    anticipation: Delay = 1.5
    """Time before the link goes down at which the host anticipates the handover."""
    preparation: Delay = 1.0
    """Time that the new router needs to accept the host before the handover: duplicate address detection,
    1 s (RFC 4862)."""
    margin: Delay = 0.0
    """Time before link down at which the new router's answer must have arrived for the handover to be
    prepared."""
    announce: Delay = 0.01
    """Time from link up to the first message at a router that is prepared."""
    detection: Delay = 0.1
    """Time from link up to the first message at a router that is not prepared: movement detection and a
    new address. The default omits duplicate address detection, as optimistic addresses do (RFC 4429). To
    include its 1 s (RFC 4862), as `preparation` does, write `1.1 s`. With the default, comparisons favour
    MIPv6 and HMIPv6, which wait for `detection` at each handover, over protocols that prepare."""
    buffer: Room = 50.0
    """Maximum number of packets that a router buffers for the host."""
    settle: Delay = 0.01
    """Time for which the tunnel must be idle before the second buffer is released (HIMIPv6)."""

    ping_pong: Probability = 0.0
    """Probability that the host soon returns to the previous router after a handover."""
    ping_pong_stay: Duration = 0.5
    """Time after which the host returns in this case."""
    false_alarm: Probability = 0.0
    """Probability that an anticipated handover does not occur."""
    false_alarm_time: Time = 0.5
    """Time after the anticipated handover at which the host detects a false alarm."""
    signalling_loss: bool = False
    """True if the loss of the radio hop also applies to signalling messages."""

    fills: ClassVar[dict[str, tuple[IntEnum, float]]] = {
        "least_stay": (MobileP.LEAST_STAY, NS),
        "outage": (MobileP.OUTAGE, NS),
        "outage_jitter": (MobileP.OUTAGE_JITTER, NS),
        "map_to_ar": (MobileP.MAP_TO_AR, NS),
        "map_to_map": (MobileP.MAP_TO_MAP, NS),
        "home_agent": (MobileP.HOME_AGENT, NS),
        "anticipation": (MobileP.ANTICIPATION, NS),
        "preparation": (MobileP.PREPARATION, NS),
        "margin": (MobileP.MARGIN, NS),
        "announce": (MobileP.ANNOUNCE, NS),
        "detection": (MobileP.DETECTION, NS),
        "settle": (MobileP.SETTLE, NS),
        "ping_pong": (MobileP.PING_PONG, _WORD),
        "ping_pong_stay": (MobileP.PING_PONG_STAY, NS),
        "false_alarm": (MobileP.FALSE_ALARM, _WORD),
        "false_alarm_time": (MobileP.FALSE_ALARM_TIME, NS),
    }

    @model_validator(mode="after")
    def _has_one_schedule(self) -> Self:
        given = [n for n in ("times", "every", "cell_radius") if getattr(self, n) is not None]
        if not given:
            raise InputError("times, every and cell_radius are all missing; write every: 20 s")
        if len(given) > 1:
            raise InputError(f"{given[0]} and {given[1]} are both given; keep one")
        if self.first is not None and self.every is None:
            raise InputError("first needs every; add every or remove first")
        if (self.speed is None) != (self.cell_radius is None):
            lone, other = ("speed", "cell_radius") if self.speed else ("cell_radius", "speed")
            raise InputError(f"{lone} needs {other}; add {other} or remove {lone}")
        return self

    @model_validator(mode="after")
    def _outage_lasts(self) -> Self:
        if bounds(self.outage_jitter)[1] >= bounds(self.outage)[0]:
            raise InputError("outage_jitter can be as long as outage; lower it or raise outage")
        return self

    def most_handovers(self, duration_s: float) -> int:
        """Return the maximum number of handovers in a run of at most this duration. Raises InputError if
        there are too many."""
        least = ("every", "first", "least_stay", "cell_radius")
        extremes = {
            f"mobility.{name}": np.array([bounds(value)[name not in least]])
            for name in (*least, "speed", "ping_pong")
            if (value := getattr(self, name)) is not None
        }
        draws = Draws(0, np.zeros(1, np.int64), np.zeros(1, np.int64), extremes)
        return int(self._schedule(draws, np.array([round(duration_s * NS)]))[MobileP.HANDOVERS][0])

    def parameters(self, draws: Draws, end: Ints) -> dict[IntEnum, Ints]:
        """Return the kernel parameters, except SIGNAL_LOSS, of rows [n] whose observation ends at `end`
        [n] [ns]."""
        return {
            **draws.columns(self, "mobility"),
            **self._schedule(draws, end),
            MobileP.HANDOVER: np.full(len(end), PROTOCOLS[self.protocol]),
            MobileP.DOMAIN_SIZE: draws.room("mobility.domain_size", self.domain_size, unlimited=0),
            MobileP.BUFFER: draws.room("mobility.buffer", self.buffer, unlimited=ENDLESS),
        }

    def given_times(self, draws: Draws) -> Ints:
        """Return the times at which the link goes down [n, K] [ns], ascending; K is 0 without given times."""
        times = [draws.whole(f"mobility.times.{i}", t, NS) for i, t in enumerate(self.times or [])]
        return np.sort(np.reshape(times, (len(times), len(draws.replications))).T, axis=1)

    def _schedule(self, draws: Draws, end: Ints) -> dict[IntEnum, Ints]:
        """Return the parameters of the handover schedule and the maximum number of handovers. Raises
        InputError if there are too many."""
        every = first = np.zeros_like(end)
        if self.times is not None:
            kind, most = layout.SCHEDULE_GIVEN, np.full(len(end), len(self.times))
        elif self.every is not None:
            kind = layout.SCHEDULE_PERIODIC
            every = first = draws.whole("mobility.every", self.every, NS)
            if self.first is not None:
                first = draws.whole("mobility.first", self.first, NS)
            most = np.maximum((end - first) // every + 1, 0)
        else:
            kind = layout.SCHEDULE_RANDOM
            radius = draws.floats("mobility.cell_radius", self.cell_radius)
            speed = draws.floats("mobility.speed", self.speed)
            every = np.rint(2 * radius / speed * NS).astype(np.int64)
            most = _most_chords(end / every)
        stay = draws.whole("mobility.least_stay", self.least_stay, NS)
        returns = draws.floats("mobility.ping_pong", self.ping_pong) > 0
        most = np.minimum(most, end // stay) * np.where(returns, 2, 1)
        if (largest := most.max(initial=0)) > MAX_HANDOVERS:
            raise InputError(
                f"mobility can cause {largest} handovers; expected 0 to {MAX_HANDOVERS}; "
                "make them rarer, raise least_stay, or shorten duration"
            )
        return {
            MobileP.SCHEDULE: np.full(len(end), kind),
            MobileP.FIRST_HANDOVER: first,
            MobileP.EVERY: every,
            MobileP.HANDOVERS: most,
        }


def _most_chords(diameters: Floats) -> Ints:
    """Return the number of random chords of a circle that are together longer than `diameters` [n].

    The mean chord is pi / 4 of a diameter, so by Hoeffding's inequality n chords are shorter than t with a
    probability of at most exp(-2 (n pi / 4 - t)^2 / n), here exp(-40).
    """
    root = (math.sqrt(20) + np.sqrt(20 + math.pi * diameters)) / (math.pi / 2)
    return np.asarray(np.ceil(root**2), np.int64)
