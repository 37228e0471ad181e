"""Rate tables of the 802.11 engine for 802.11n, ac, ax and be."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from netcarlo.kernels.wireless.layout import Rate
from netcarlo.networks.wireless import dot11
from netcarlo.networks.wireless.phy.ppdu import ANSWER_RATES, Mode, ppdu
from netcarlo.networks.wireless.phy.tables import tables


def row(mode: Mode, band: str = "5 GHz", behaviour: str = "standard") -> NDArray[np.int64]:
    """Return the columns of `Rate` for a mode, int64[len(Rate)]; ANSWER is a row of `table`."""
    format_ = ppdu(mode, band, behaviour)
    found = np.zeros(len(Rate), np.int64)
    found[Rate.SYMBOL], found[Rate.SIXTH_BITS] = format_.symbol, 6 * format_.bits
    found[Rate.EXTRA_BITS], found[Rate.PREAMBLE] = format_.extra_bits, format_.preamble
    found[Rate.EXTENSION], found[Rate.ANSWER] = format_.extension, answer_row(format_.answer_rate)
    found[Rate.DELIMITED] = tables()["standards"][mode.standard]["delimited"]
    found[Rate.STREAMS] = mode.streams
    return found


def table(modes: Sequence[Mode], band: str = "5 GHz", behaviour: str = "standard") -> NDArray[np.int64]:
    """Return the rate table of the engine: the rates of responses (`answer_row`), then those of the modes.

    int64[3 + len(modes), len(Rate)]. Responses are sent in non-HT format at 6, 12 or 24 Mbit/s.
    """
    legacy = "802.11g" if tables()["bands"][band]["extension"] else "802.11a"
    answers = [dot11.row(rate * 1e6, legacy, short_preamble=False) for rate in ANSWER_RATES]
    for number, answer in enumerate(answers):
        answer[Rate.ANSWER] = number
    return np.stack([*answers, *(row(mode, band, behaviour) for mode in modes)])


def answer_row(rate: int) -> int:
    """Return the row of `table` with a rate of responses [Mbit/s]."""
    return ANSWER_RATES.index(rate)
