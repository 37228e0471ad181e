"""Losses of frames by noise: the NIST model of OFDM over a channel with white Gaussian noise.

Sources: Pei and Henderson, "Validation of OFDM error rate model in ns-3" (2010), the default of ns-3 for many
years: uncoded bit error rates of the modulations, and a union bound for the convolutional code with hard
decisions. Weights of code words: Frenger et al., "Multi-rate convolutional codes" (1998); rate 5/6: Haccoun
and Bégin, "High-rate punctured convolutional codes" (IEEE Trans. Commun., 1989).
"""

import math
from functools import cache

import numpy as np
from scipy.special import erfc

from netcarlo.networks.wireless.phy.tables import tables
from netcarlo.numerics.arrays import Floats, Ints

LOWEST_DB, HIGHEST_DB = -20, 80
STEPS = 10
"""Steps of the signal-to-noise ratio in a decibel: errors are equal on every machine."""
REFERENCE_BYTES = 4096
"""Size of the PSDU for which the standard defines sensitivities (IEEE 802.11-2020, 19.3.19.1, 21.3.18.1)."""

_WEIGHTS = {
    (1, 2): (10, 2, (36, 211, 1404, 11633, 77433, 502690, 3322763, 21292910, 134365911)),
    (2, 3): (6, 1, (3, 70, 285, 1276, 6160, 27128, 117019, 498860, 2103891, 8784123)),
    (3, 4): (5, 1, (42, 201, 1492, 10469, 62935, 379644, 2253373, 13073811, 75152755, 428005675)),
    (5, 6): (4, 1, (92, 528, 8694, 79453, 792114, 7375573, 67884974, 610875423, 5427275376, 47664215639)),
}  # fmt: skip
"""Free distance, step of the distances, and bit errors of the paths at these distances, by code rate."""


def frame_error(mcs: Ints | int, snr_db: Floats, size: Ints | int) -> Floats:
    """Return the probability [n] that noise destroys an MPDU of `size` bytes [n].

    `snr_db` is the signal-to-noise ratio of each stream, rounded to a tenth of a decibel.
    """
    step = np.rint(STEPS * (np.clip(snr_db, LOWEST_DB, HIGHEST_DB) - LOWEST_DB)).astype(np.int64)
    found = -np.expm1(8.0 * size * np.log1p(-_bit_errors()[mcs, step]))
    return np.asarray(np.round(found, 9))


@cache
def required_db(mcs: int) -> float:
    """Return the signal-to-noise ratio [dB] at which 10 % of MPDUs of `REFERENCE_BYTES` are lost."""
    grid = np.arange(LOWEST_DB, HIGHEST_DB, 1 / STEPS)
    return float(np.round(grid[np.argmax(frame_error(mcs, grid, REFERENCE_BYTES) <= 0.1)], 1))


@cache
def _bit_errors() -> Floats:
    """Return the probability that the first wrong path of the decoder begins at a bit [MCS, steps]."""
    snr = 10 ** (np.arange(LOWEST_DB * STEPS, HIGHEST_DB * STEPS + 1) / STEPS / 10)
    return np.stack(
        [_coded(_uncoded(2 ** scheme["bits"], snr), *scheme["code"]) for scheme in tables()["mcs"]]
    )


def _uncoded(points: int, snr: Floats) -> Floats:
    """Return the bit error rate of a constellation with a number of points."""
    if points < 16:  # BPSK, QPSK
        return np.asarray(0.5 * erfc(np.sqrt(snr / (points // 2))))
    side = math.isqrt(points)
    return np.asarray((side - 1) / (side * math.log2(side)) * erfc(np.sqrt(1.5 * snr / (points - 1))))


def _coded(p: Floats, numerator: int, denominator: int) -> Floats:
    """Return the error rate of the decoder at bit error rate `p`, by the union bound."""
    distance, step, weights = _WEIGHTS[numerator, denominator]
    z = np.sqrt(4 * p * (1 - p))
    bound = sum(weight * z ** (distance + step * k) for k, weight in enumerate(weights)) / (2 * numerator)
    return np.minimum(bound, 1 - 1e-12)
