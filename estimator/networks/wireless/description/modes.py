"""Modes of the links of 802.11n, ac, ax and be: band, channel, guard interval, streams, and MCS."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Literal

from netcarlo.networks.wireless.description.access import Access
from netcarlo.networks.wireless.description.links import Direction, Mcs, Streams
from netcarlo.networks.wireless.phy import rates
from netcarlo.networks.wireless.phy.ppdu import ANSWER_RATES, Mode, faults, is_excluded, ppdu
from netcarlo.networks.wireless.phy.tables import BANDS, tables
from netcarlo.schema.distributions import Distribution
from netcarlo.schema.quantity import Number, bounds


class Modes(Access):
    """Fields of the modes."""

    if TYPE_CHECKING:
        behaviour: Any
        each: Any
        path_loss: Any

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

    def mode(self, streams: int, mcs: int) -> Mode:
        """Return the mode of links with these streams and MCS."""
        guard = int(self.guard.split()[0]) if self.guard else 800
        return Mode(self.standard, self.width, streams, mcs, guard)

    def best_mcs(self, streams: int) -> int:
        """Return the highest MCS with a number of streams."""
        found = int(tables()["standards"][self.standard]["most_mcs"])
        return found - is_excluded(self.mode(streams, found))

    def choices(self) -> list[tuple[str, Number, Number | None]]:
        """Return the prefix of the fields, the streams, and the MCS of all links, and of each one that has
        its own."""
        streams = 1.0 if self.streams is None else self.streams
        found = [("", streams, self.mcs)]
        above = found[0]
        for name, own in self.directions():
            usual = above if name.endswith("downlink") else found[0]
            above = (
                f"{name}.",
                usual[1] if own.streams is None else own.streams,
                usual[2] if own.mcs is None else own.mcs,
            )
            if own.streams is not None or own.mcs is not None:
                found.append(above)
        return found

    def mode_errors(self) -> list[str]:
        """Return the faults of the modes, one line each."""
        found: dict[str, None] = {}
        for before, streams, mcs in self.choices():
            for s in possible(streams):
                for m in [self.best_mcs(s)] if mcs is None else possible(mcs):
                    for line in faults(self.mode(s, m), self.band_used, self.behaviour or "standard"):
                        found[before + line if line.startswith(("mcs", "streams")) else line] = None
        return list(found)

    @property
    def modes(self) -> list[Mode]:
        """Modes in the order of the rate table: all MCS of the numbers of streams that links have."""
        streams = sorted({
            s for _, number, mcs in self.choices() for most in possible(number)
            for s in (range(1, most + 1) if mcs is None and self.follows_signal else [most])
        })  # fmt: skip
        modes = [self.mode(s, m) for s in streams for m in range(self.best_mcs(s) + 1)]
        return [mode for mode in modes if not is_excluded(mode)]

    def mode_table(self) -> Any:
        """Return the rate table of the engine, int64[3 + modes, len(Rate)]."""
        return rates.table(self.modes, self.band_used, self.behaviour or "standard")

    def mode_row(self, streams: int, mcs: int) -> int:
        """Return the row of a mode in the rate table."""
        return len(ANSWER_RATES) + self.modes.index(self.mode(streams, mcs))

    @property
    def mode_rates(self) -> tuple[float, ...]:
        """Rates of the rows of the rate table [bit/s]."""
        return (*(rate * 1e6 for rate in ANSWER_RATES), *(self._rate(mode) for mode in self.modes))

    @property
    def mode_numbers(self) -> list[Number]:
        """Rates of all links, and of single links [bit/s]."""
        found: list[Number] = []
        for _, streams, mcs in self.choices():
            if mcs is None and self.follows_signal:
                modes = [mode for mode in self.modes if mode.streams <= max(possible(streams))]
            else:
                modes = [self.mode(s, m) for s in possible(streams)
                         for m in ([self.best_mcs(s)] if mcs is None else possible(mcs))]  # fmt: skip
            each = [self._rate(mode) for mode in modes]
            found.append(each[0] if len(each) == 1 else Distribution("choice", tuple(sorted(each))))
        return found

    def _rate(self, mode: Mode) -> float:
        return 1e6 * ppdu(mode, self.band_used, self.behaviour or "standard").rate_mbps


def possible(number: Number) -> list[int]:
    """Return the possible values of a whole number."""
    if isinstance(number, Distribution) and number.kind == "choice":
        return sorted({int(value) for value in number.values})
    low, high = bounds(number)
    return list(range(round(low), round(high) + 1))
