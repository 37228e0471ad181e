"""The numbers of 802.11a, b and g: slots, rates, preambles, and at which rate a frame is answered.

IEEE 802.11-2012, clauses 16 to 19; times in nanoseconds, rates in bit/s.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from netcarlo.errors import InputError
from netcarlo.kernels.wireless.layout import Rate

US = 1000

DSSS = (1e6, 2e6, 5.5e6, 11e6)
OFDM = (6e6, 9e6, 12e6, 18e6, 24e6, 36e6, 48e6, 54e6)
MANDATORY_OFDM = (6e6, 12e6, 24e6)

ACK_BYTES = 14

RATES = {"802.11a": OFDM, "802.11b": DSSS, "802.11g": (*DSSS, *OFDM)}

_OFDM: dict[str, Any] = {"slot": "9 us", "cw_min": 15, "rate": "54 Mbit/s"}
DEFAULTS: dict[str, dict[str, Any]] = {
    "802.11a": {**_OFDM, "sifs": "16 us"},
    "802.11b": {"slot": "20 us", "cw_min": 31, "rate": "11 Mbit/s", "sifs": "10 us"},
    "802.11g": {**_OFDM, "sifs": "10 us"},
}
"""Fields of a wireless network that follow from the standard; any of them can be given instead."""


def mbps(rate: float) -> str:
    """A rate as it is written: `5.5 Mbit/s`."""
    return f"{rate / 1e6:g} Mbit/s"


def row(rate: float, standard: str, *, short_preamble: bool) -> NDArray[np.int64]:
    """The columns of `Rate` for a rate, int64[len(Rate)]; ANSWER is left 0."""
    found = np.zeros(len(Rate), np.int64)
    if rate in DSSS:
        short = short_preamble and rate > 1e6  # 1 Mbit/s has the long one only
        found[Rate.SYMBOL], found[Rate.HALF_BITS] = 1 * US, round(2 * rate / 1e6)
        found[Rate.PREAMBLE], found[Rate.DSSS] = (96 if short else 192) * US, 1
        return found
    found[Rate.SYMBOL], found[Rate.HALF_BITS] = 4 * US, round(2 * 4 * rate / 1e6)
    found[Rate.EXTRA_BITS], found[Rate.PREAMBLE] = 16 + 6, 20 * US
    found[Rate.EXTENSION] = 6 * US if standard == "802.11g" else 0
    return found


def time_on_air(rate: NDArray[np.int64], size: int) -> int:
    """The time [ns] of a frame of `size` bytes at a rate, the columns of `Rate`."""
    bits = 2 * (8 * size + int(rate[Rate.EXTRA_BITS]))
    symbols = -(-bits // int(rate[Rate.HALF_BITS]))
    return int(rate[Rate.PREAMBLE] + rate[Rate.SYMBOL] * symbols + rate[Rate.EXTENSION])


def answer(rate: float) -> float:
    """The rate of the ACK or CTS: the highest mandatory one of the same modulation that is not above."""
    mandatory = DSSS if rate in DSSS else MANDATORY_OFDM
    return max(each for each in mandatory if each <= rate)


def table(
    rates: Sequence[float], standard: str, *, short_preamble: bool, answer_rate: float | None
) -> NDArray[np.int64]:
    """The rates as the engine reads them, int64[len(rates), len(Rate)].

    Raises InputError where the rate of an answer is not among them.
    """
    found = np.stack([row(rate, standard, short_preamble=short_preamble) for rate in rates])
    for i, rate in enumerate(rates):
        wanted = answer(rate) if answer_rate is None else answer_rate
        if wanted not in rates:
            raise InputError(
                f"rates lack {mbps(wanted)}, at which {mbps(rate)} is answered; add it, or write another "
                "answer_rate"
            )
        found[i, Rate.ANSWER] = rates.index(wanted)
    return found


def acknowledgement(standard: str, *, short_preamble: bool) -> int:
    """The time [ns] of an ACK at the lowest rate of the standard, which an EIFS leaves room for."""
    return time_on_air(row(RATES[standard][0], standard, short_preamble=short_preamble), ACK_BYTES)
