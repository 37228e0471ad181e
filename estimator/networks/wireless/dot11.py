"""Constants of 802.11a, b and g: slots, rates, preambles, and the rate of the response to a frame.

Source: IEEE 802.11-2012, clauses 16 to 19; times in nanoseconds, rates in bit/s.
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
"""Fields of an 802.11 network whose defaults depend on the standard; each can be given instead."""


def mbps(rate: float) -> str:
    """Return a rate as text: `5.5 Mbit/s`."""
    return f"{rate / 1e6:g} Mbit/s"


def row(rate: float, standard: str, *, short_preamble: bool) -> NDArray[np.int64]:
    """Return the columns of `Rate` for a rate, int64[len(Rate)]; ANSWER is 0."""
    found = np.zeros(len(Rate), np.int64)
    if rate in DSSS:
        short = short_preamble and rate > 1e6  # 1 Mbit/s has only the long preamble
        found[Rate.SYMBOL], found[Rate.SIXTH_BITS] = 1 * US, round(6 * rate / 1e6)
        found[Rate.PREAMBLE], found[Rate.DSSS] = (96 if short else 192) * US, 1
        return found
    found[Rate.SYMBOL], found[Rate.SIXTH_BITS] = 4 * US, round(6 * 4 * rate / 1e6)
    found[Rate.EXTRA_BITS], found[Rate.PREAMBLE] = 16 + 6, 20 * US
    found[Rate.EXTENSION] = 6 * US if standard == "802.11g" else 0
    return found


def time_on_air(rate: NDArray[np.int64], size: Any) -> Any:
    """Return the duration [ns] of frames of `size` bytes at rates, given as columns of `Rate` [..., C]."""
    bits = 6 * (8 * size + rate[..., Rate.EXTRA_BITS])
    symbols = -(-bits // rate[..., Rate.SIXTH_BITS])
    return rate[..., Rate.PREAMBLE] + rate[..., Rate.SYMBOL] * symbols + rate[..., Rate.EXTENSION]


def answer(rate: float) -> float:
    """Return the rate of the ACK or CTS: the highest mandatory rate of the same modulation that is not
    above `rate`."""
    mandatory = DSSS if rate in DSSS else MANDATORY_OFDM
    return max(each for each in mandatory if each <= rate)


def table(
    rates: Sequence[float], standard: str, *, short_preamble: bool, answer_rate: float | None
) -> NDArray[np.int64]:
    """Return the rate table of the engine, int64[len(rates), len(Rate)].

    Raises InputError if the rate of a response is not in the table.
    """
    found = np.stack([row(rate, standard, short_preamble=short_preamble) for rate in rates])
    for i, rate in enumerate(rates):
        wanted = answer(rate) if answer_rate is None else answer_rate
        if wanted not in rates:
            raise InputError(
                f"rates lack {mbps(wanted)}, the response rate for {mbps(rate)}; add it, or write another "
                "answer_rate"
            )
        found[i, Rate.ANSWER] = rates.index(wanted)
    return found


def acknowledgement(standard: str, *, short_preamble: bool) -> int:
    """Return the duration [ns] of an ACK at the lowest rate of the standard, which is part of an EIFS."""
    return int(time_on_air(row(RATES[standard][0], standard, short_preamble=short_preamble), ACK_BYTES))
