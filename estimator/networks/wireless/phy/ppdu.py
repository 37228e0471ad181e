"""Format of a PPDU: preamble, symbols and coding of a modulation and coding scheme, and durations.

Sources: IEEE 802.11-2020, equations (19-90) to (19-92), (21-107); IEEE 802.11ax-2021, equations (27-135) ff.;
IEEE 802.11be-2024, clause 36.4.3. Left out of the standard's HE and EHT: the packet extension (nominal packet
padding is 0) and the extra symbol segment of LDPC, which lengthens some PPDUs by one symbol.
"""

import math
from collections.abc import Iterable
from fractions import Fraction
from typing import Any, NamedTuple

from netcarlo.errors import InputError
from netcarlo.networks.wireless.phy.tables import tables

SERVICE_BITS = 16
TAIL_BITS = 6
ANSWER_RATES = (6, 12, 24)
"""Rates of responses: the mandatory rates of OFDM [Mbit/s] (IEEE 802.11-2020, 10.6.6.5.2)."""


class Mode(NamedTuple):
    """Parameters that determine the rate of a PPDU; width in MHz, guard interval in nanoseconds."""

    standard: str
    width: int
    streams: int
    mcs: int
    guard: int


class Ppdu(NamedTuple):
    """Timing of a PPDU; times in nanoseconds."""

    preamble: int
    """All fields before the data."""
    symbol: int
    bits: Fraction
    """Data bits per symbol (N_DBPS)."""
    extra_bits: int
    """Service bits and tail bits."""
    extension: int
    """Signal extension."""
    answer_rate: int
    """Rate of the response [Mbit/s]."""

    def duration(self, size: int) -> int:
        """Return the duration [ns] of a PPDU whose PSDU has `size` bytes."""
        symbols = -(-(8 * size + self.extra_bits) // self.bits)
        return int(self.preamble + self.symbol * symbols + self.extension)

    @property
    def rate_mbps(self) -> float:
        """Data rate [Mbit/s]."""
        return float(1000 * self.bits / self.symbol)


def ppdu(mode: Mode, band: str = "5 GHz", behaviour: str = "standard") -> Ppdu:
    """Return the format of PPDUs of a mode. Raises InputError for one that the standard does not define."""
    if found := faults(mode, band, behaviour):
        raise InputError(*found)
    standard, scheme = tables()["standards"][mode.standard], tables()["mcs"][mode.mcs]
    bits = standard["widths"][mode.width] * scheme["bits"] * mode.streams * Fraction(*scheme["code"])
    preamble, field = standard["preamble"], standard["guards"][mode.guard]
    convolutional = standard.get("convolutional")
    if behaviour == "ns3":
        ns3 = tables()["ns3"]
        preamble += ns3["signal_b"] - standard.get("signal_b", ns3["signal_b"])
        if convolutional:
            field = ns3["training_field"]
    else:
        bits = Fraction(math.floor(bits))
    if not convolutional:
        encoders = _encoders(standard, mode, bits)
    else:
        encoders = int(
            behaviour == "ns3" or all(getattr(mode, key) <= convolutional[key] for key in convolutional)
        )
    return Ppdu(
        preamble=preamble + tables()["training_fields"][mode.streams - 1] * field,
        symbol=standard["symbol"] + mode.guard,
        bits=bits,
        extra_bits=SERVICE_BITS + TAIL_BITS * encoders,
        extension=tables()["bands"][band]["extension"],
        answer_rate=max(rate for rate in ANSWER_RATES if rate <= scheme["reference"]),
    )


def _encoders(standard: Any, mode: Mode, bits: Fraction) -> int:
    """Return the number of convolutional encoders (N_ES) of HT and VHT, each of which has tail bits.

    The encoders have equal numbers of whole puncturing blocks (IEEE 802.11-2020, 21.3.10.5.3).
    """
    block: int = tables()["mcs"][mode.mcs]["code"][0]
    found = math.ceil(bits / int(standard["bits_per_encoder"]))
    while bits % (found * block):
        found += 1
    return found


def faults(mode: Mode, band: str, behaviour: str = "standard") -> list[str]:
    """Return what is wrong with a mode in a band, one line each; empty if the standard defines it."""
    name, standard = mode.standard, tables()["standards"][mode.standard]
    found = []
    if behaviour == "ns3" and name == "802.11be":
        found.append("behaviour = ns3 is not supported with 802.11be; write behaviour: standard")
    if band not in standard["bands"]:
        found.append(f"band = {band} is no band of {name}; expected {_either(standard['bands'])}")
    widest = standard["bands"].get(band, [0, max(standard["widths"])])[1]
    widths = [width for width in standard["widths"] if width <= widest]
    if mode.width not in widths:
        allowed = _either([f"{width} MHz" for width in widths])
        found.append(f"channel = {mode.width} MHz is no channel of {name} at {band}; expected {allowed}")
    if mode.guard not in standard["guards"]:
        allowed = _either([f"{guard} ns" for guard in standard["guards"]])
        found.append(f"guard = {mode.guard} ns is no guard interval of {name}; expected {allowed}")
    if not 1 <= mode.streams <= standard["most_streams"]:
        allowed = f"expected 1 to {standard['most_streams']}"
        found.append(f"streams = {mode.streams} is out of range for {name}; {allowed}")
    if not 0 <= mode.mcs <= standard["most_mcs"]:
        remedy = ""
        if name == "802.11n":
            remedy = f"; MCS {mode.mcs} of 802.11n is mcs: {mode.mcs % 8}, streams: {mode.mcs // 8 + 1}"
        allowed = f"expected 0 to {standard['most_mcs']}"
        found.append(f"mcs = {mode.mcs} is out of range for {name}; {allowed}{remedy}")
    if is_excluded(mode):
        where = f"{mode.width} MHz and {mode.streams} stream{'s' if mode.streams > 1 else ''}"
        found.append(f"mcs = {mode.mcs} is not defined by {name} with {where}; write mcs: {mode.mcs - 1}")
    return found


def is_excluded(mode: Mode) -> bool:
    """Return True if a standard excludes the MCS with this width and number of streams."""
    excluded = tables()["standards"][mode.standard].get("excluded", {})
    return bool(excluded.get(mode.width, {}).get(mode.streams) == mode.mcs)


def _either(values: Iterable[str]) -> str:
    """Return values as text: `20 MHz or 40 MHz`."""
    *first, last = values
    return f"{', '.join(first)} or {last}" if first else last
