"""Modes of the links of 802.11n, ac, ax and be: band, channel, guard interval, streams, and MCS."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from netcarlo.networks.wireless.description.access import Access
from netcarlo.networks.wireless.description.links import Direction, Link, Mcs, Streams
from netcarlo.networks.wireless.phy import rates
from netcarlo.networks.wireless.phy.ppdu import ANSWER_RATES, Mode, faults, is_excluded, ppdu
from netcarlo.networks.wireless.phy.tables import BANDS, FIRST_GENERATION, GENERATIONS, STANDARDS, tables
from netcarlo.schema.distributions import Distribution
from netcarlo.schema.quantity import Number, bounds


class Choice(NamedTuple):
    """Modes that links may have."""

    before: str
    """Prefix of the names of the fields."""
    standards: tuple[str, ...]
    streams: Number
    mcs: Number | None


class Modes(Access):
    """Fields of the modes."""

    if TYPE_CHECKING:
        behaviour: Any
        each: Any
        path_loss: Any
        rate_control: Any

        def directions(self) -> Iterator[tuple[str, Direction]]: ...  # noqa: D102

    band: Literal[BANDS] | None = None  # type: ignore[valid-type]
    """Frequency band (802.11n, ac, ax, be). Default: 5 GHz."""
    channel: Literal["20 MHz", "40 MHz", "80 MHz", "160 MHz", "320 MHz"] | None = None
    """Channel width (802.11n, ac, ax, be). Default: 80 MHz; 20 MHz with 802.11n or at 2.4 GHz, 160 MHz with
    802.11be at 6 GHz."""
    guard: Literal["400 ns", "800 ns", "1600 ns", "3200 ns"] | None = None
    """Guard interval (802.11n, ac, ax, be). Default: 800 ns."""
    streams: Streams | None = None
    """Number of spatial streams of every link (802.11n, ac, ax, be), at most if the signal determines them.
    Default: 1."""
    mcs: Mcs | None = None
    """Modulation and coding scheme of every link, per stream (802.11n, ac, ax, be). Default: the highest;
    with `path_loss` that with the highest rate that the signal allows, losses included."""

    @property
    def follows_signal(self) -> bool:
        """True if the signal determines the losses of the links, and the modes of links without `mcs`."""
        return self.has_edca and self.path_loss is not None

    @property
    def band_used(self) -> str:
        """Frequency band."""
        return self.band or "5 GHz"

    @property
    def width(self) -> int:
        """Channel width [MHz]."""
        if self.channel is not None:
            return int(self.channel.split()[0])
        bands = tables()["standards"][self.standard]["bands"]
        return int(bands.get(self.band_used, [20])[0])

    def standard_of(self, generation: int) -> str:
        """Return the standard of a link to a station of a Wi-Fi generation: the older of both ends.

        Stations with 802.11ac use 802.11n at 2.4 GHz.
        """
        found = GENERATIONS[min(generation - FIRST_GENERATION, GENERATIONS.index(self.standard))]
        if found == "802.11ac" and found != self.standard and self.band_used == "2.4 GHz":
            return "802.11n"
        return found

    def mode(self, streams: int, mcs: int, standard: str = "") -> Mode:
        """Return the mode of links with these streams and MCS, of the network's standard or an older one.

        Older stations use the widest channel that they support, and a guard interval of 800 ns if theirs
        differ; those of 802.11a and g have one stream.
        """
        guard = int(self.guard.split()[0]) if self.guard else 800
        width = self.width
        if standard in ("", self.standard):
            return Mode(self.standard, width, streams, mcs, guard)
        older = tables()["standards"][standard]
        width = min(width, older["bands"].get(self.band_used, [0, width])[1])
        if standard not in STANDARDS:
            streams = 1
        return Mode(standard, width, streams, mcs, guard if guard in older["guards"] else 800)

    def best_mcs(self, streams: int, standard: str = "") -> int:
        """Return the highest MCS with a number of streams."""
        found = int(tables()["standards"][standard or self.standard]["most_mcs"])
        return found - is_excluded(self.mode(streams, found, standard))

    def choices(self) -> list[Choice]:
        """Return the modes of all links, and of each one that has its own."""
        every = Choice("", (self.standard,), 1.0 if self.streams is None else self.streams, self.mcs)
        found, above = [every], every
        for name, own in self.directions():
            usual = above if name.endswith("downlink") else every
            standards = usual.standards
            if isinstance(own, Link) and own.generation is not None:
                standards = tuple(dict.fromkeys(self.standard_of(n) for n in possible(own.generation)))
            streams = usual.streams if own.streams is None else own.streams
            above = Choice(f"{name}.", standards, streams, usual.mcs if own.mcs is None else own.mcs)
            if above[1:] != usual[1:]:
                found.append(above)
        return found

    def mode_errors(self) -> list[str]:
        """Return the faults of the modes, one line each."""
        found: dict[str, None] = {}
        for before, standards, streams, mcs in self.choices():
            for standard in standards:
                if standard != self.standard and (line := self._unused_band(standard)):
                    found[before + line] = None
                    continue
                for s in possible(streams):
                    for m in [self.best_mcs(s, standard)] if mcs is None else possible(mcs):
                        mode = self.mode(s, m, standard)
                        for line in faults(mode, self.band_used, self.behaviour or "standard"):
                            own = line.startswith(("mcs", "streams"))
                            found[before + line if own else line] = None
        return list(found)

    def _unused_band(self, standard: str) -> str:
        """Return what is wrong with a station of an older standard in the band, or an empty string."""
        using = [
            str(number) for number, each in enumerate(GENERATIONS, FIRST_GENERATION)
            if self.band_used in tables()["standards"][each]["bands"]
        ]  # fmt: skip
        number = str(GENERATIONS.index(standard) + FIRST_GENERATION)
        if number in using:
            return ""
        remedy = f"write generation: {using[0]}, or another of {', '.join(using)}"
        return f"generation can be {number}, which does not use {self.band_used}; {remedy}"

    @property
    def standards_used(self) -> list[str]:
        """Standards of the links, oldest first."""
        used = {standard for choice in self.choices() for standard in choice.standards}
        return sorted(used, key=GENERATIONS.index)

    @property
    def varies_streams(self) -> bool:
        """True if rate control may use fewer streams than a link has."""
        return bool(self.rate_control == "minstrel")

    @property
    def modes(self) -> list[Mode]:
        """Modes in the order of the rate table: all MCS of the numbers of streams that links may use."""
        families: set[tuple[int, int]] = set()
        for _, standards, number, mcs in self.choices():
            fewer = self.varies_streams or (mcs is None and self.follows_signal)
            for most in possible(number):
                counts = range(1, most + 1) if fewer else [most]
                families |= {(GENERATIONS.index(each), count) for each in standards for count in counts}
        found = [
            self.mode(count, mcs, GENERATIONS[k]) for k, count in sorted(families)
            for mcs in range(self.best_mcs(count, GENERATIONS[k]) + 1)
        ]  # fmt: skip
        return [mode for mode in dict.fromkeys(found) if not is_excluded(mode)]

    def mode_table(self) -> Any:
        """Return the rate table of the engine, int64[3 + modes, len(Rate)]."""
        return rates.table(self.modes, self.band_used, self.behaviour or "standard")

    def mode_row(self, streams: int, mcs: int, standard: str = "") -> int:
        """Return the row of a mode in the rate table."""
        return len(ANSWER_RATES) + self.modes.index(self.mode(streams, mcs, standard))

    @property
    def mode_rates(self) -> tuple[float, ...]:
        """Rates of the rows of the rate table [bit/s]."""
        return (*(rate * 1e6 for rate in ANSWER_RATES), *(self._rate(mode) for mode in self.modes))

    @property
    def mode_numbers(self) -> list[Number]:
        """Rates of all links, and of single links [bit/s]."""
        found: list[Number] = []
        for _, standards, streams, mcs in self.choices():
            if self.rate_control != "fixed" or (mcs is None and self.follows_signal):
                modes = [mode for mode in self.modes if mode.streams <= max(possible(streams))]
            else:
                modes = [
                    self.mode(s, m, each) for each in standards for s in possible(streams)
                    for m in ([self.best_mcs(s, each)] if mcs is None else possible(mcs))
                ]  # fmt: skip
            some = [self._rate(mode) for mode in modes]
            found.append(some[0] if len(some) == 1 else Distribution("choice", tuple(sorted(some))))
        return found

    def _rate(self, mode: Mode) -> float:
        return 1e6 * ppdu(mode, self.band_used, self.behaviour or "standard").rate_mbps


def possible(number: Number) -> list[int]:
    """Return the possible values of a whole number."""
    if isinstance(number, Distribution) and number.kind == "choice":
        return sorted({int(value) for value in number.values})
    low, high = bounds(number)
    return list(range(round(low), round(high) + 1))
