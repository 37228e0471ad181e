"""Rates and losses of the links of an 802.11 network."""

from collections.abc import Iterator
from typing import Any, ClassVar, Literal, Self

from pydantic import Field, model_validator

from netcarlo.errors import InputError
from netcarlo.kernels.wireless.layout import AARF, ARF, FIXED, MINSTREL, Radio
from netcarlo.networks.radio import Times
from netcarlo.networks.wireless import dot11
from netcarlo.networks.wireless.description.access import PhyRate
from netcarlo.networks.wireless.description.links import AnyLinks, Direction, FirstRate, Link
from netcarlo.networks.wireless.description.modes import Modes
from netcarlo.schema.quantity import Number, Probability, Time

RATE_CONTROLS = {"fixed": FIXED, "arf": ARF, "aarf": AARF, "minstrel": MINSTREL}


class Rates(Modes):
    """Fields of rates and losses."""

    rates: list[PhyRate] | None = Field(default=None, min_length=1, max_length=32)
    """Rates available to rate control. Default: all rates of the standard."""
    rate: FirstRate | None
    """Initial rate of every link. Default: 54 Mbit/s; 11 Mbit/s with 802.11b."""
    answer_rate: PhyRate | None = None
    """Rate of ACK, CTS and RTS. Default: the highest mandatory rate that is not above that of the data
    frame."""
    rate_control: Literal["fixed", "arf", "aarf", "minstrel"] = "fixed"
    """Rate control: fixed rates, ARF or AARF, or Minstrel-HT (802.11n, ac, ax, be). With 802.11n and later
    ARF and AARF change the MCS, Minstrel-HT also the number of streams."""
    arf_up: Times = 10.0
    """Number of consecutive successes after which ARF tries the next higher rate."""
    arf_down: Times = 2.0
    """Number of consecutive failures after which ARF returns to the next lower rate."""
    arf_timer: Times = 15.0
    """Number of frames after which ARF tries the next higher rate in any case."""
    aarf_factor: Times = 2.0
    """Factor by which a failed trial multiplies `arf_up` (AARF)."""
    aarf_most: Times = 60.0
    """Maximum value of `arf_up` after failed trials (AARF)."""
    frame_error: Probability = 0.0
    """Probability that noise destroys a data frame."""
    survival: Time = 0.0
    """Mean time that a data frame survives interference; with 0 it is destroyed at once."""
    each: AnyLinks = Link()
    """Own properties of each link, drawn independently; or a list with one item per link."""

    fills: ClassVar = Modes.fills | {
        "arf_up": (Radio.ARF_UP, 1),
        "arf_down": (Radio.ARF_DOWN, 1),
        "arf_timer": (Radio.ARF_TIMER, 1),
        "aarf_factor": (Radio.AARF_FACTOR, 1),
        "aarf_most": (Radio.AARF_MOST, 1),
    }

    @model_validator(mode="after")
    def _rates_known(self) -> Self:
        if self.has_edca:
            return self
        known = self.known_rates
        for rate in known:
            if rate not in dot11.RATES[self.standard]:
                some = ", ".join(f"{each / 1e6:g}" for each in dot11.RATES[self.standard])
                raise InputError(
                    f"rates contain {dot11.mbps(rate)}, no rate of {self.standard}; expected {some} Mbit/s"
                )
        for number in self.first_rates:
            for value in values(number):
                self.rate_index(value)
        if self.protection is not None:
            self.rate_index(self.protection, "protection")
        self.rate_table()
        return self

    @property
    def known_rates(self) -> tuple[float, ...]:
        """Rates available to rate control, in order."""
        if self.has_edca:
            return self.mode_rates
        return dot11.RATES[self.standard] if self.rates is None else tuple(self.rates)

    def rate_index(self, rate: float, field: str = "rate") -> int:
        """Return the first row of a rate in the rate table. Raises InputError."""
        if rate not in self.known_rates:
            some = ", ".join(f"{each / 1e6:g}" for each in self.known_rates)
            raise InputError(f"{field} can be {dot11.mbps(rate)}; expected one of {some} Mbit/s")
        return self.known_rates.index(rate)

    def rate_table(self) -> Any:
        """Return the rate table of the engine, int64[rates, len(Rate)]."""
        if self.has_edca:
            return self.mode_table()
        return dot11.table(
            self.known_rates, self.standard,
            short_preamble=self.preamble == "short", answer_rate=self.answer_rate,
        )  # fmt: skip

    @property
    def first_rates(self) -> list[Number]:
        """Initial rates of all links, and of single links [bit/s]."""
        if self.has_edca:
            return self.mode_numbers
        own = [direction.rate for _, direction in self.directions()]
        return [rate for rate in (self.rate, *own) if rate is not None]

    @property
    def links(self) -> list[Link]:
        """Descriptions of links: one for all, or one for each."""
        return [self.each] if isinstance(self.each, Link) else self.each

    @property
    def frame_errors(self) -> list[Number]:
        """Probabilities that noise destroys a data frame, of all links in both directions."""
        found = []
        for link in self.links:
            up = self.frame_error if link.frame_error is None else link.frame_error
            found += [up, up if link.downlink.frame_error is None else link.downlink.frame_error]
        return found

    def directions(self) -> Iterator[tuple[str, Direction]]:
        """Yield the name and the own properties of each link, and of its direction to the station."""
        for k, link in enumerate(self.links):
            name = f"each.{k}" if isinstance(self.each, list) else "each"
            yield name, link
            yield f"{name}.downlink", link.downlink

    def link(self, k: int) -> Link:
        """Return the own properties of link `k`, that of station `k`."""
        if isinstance(self.each, Link):
            return self.each
        return self.each[k] if k < len(self.each) else Link()


def values(rate: Number) -> list[float]:
    """Return the possible values of a rate. Raises InputError for a distribution other than a choice."""
    if isinstance(rate, float):
        return [rate]
    if rate.kind != "choice":
        raise InputError("rate can be drawn only from a list of rates; write {choice: [...]}")
    return list(rate.values)
