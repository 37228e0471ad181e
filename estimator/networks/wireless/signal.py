"""Link budget: from received power to the streams, the MCS and the losses of a link.

Sources: IEEE 802.11-2020, 17.3.10.2, 19.3.19.1, 21.3.18.1 and 802.11ax-2021, 27.3.20.2 (minimum sensitivity);
noise figure of IEEE 802.11-14/0571 (evaluation methodology of TGax); errors as in `phy.errors`.
"""

import math
from typing import Any

import numpy as np

from netcarlo.networks.wireless.description import Wireless
from netcarlo.networks.wireless.phy.errors import frame_error, required_db
from netcarlo.networks.wireless.phy.ppdu import Mode
from netcarlo.networks.wireless.phy.tables import GENERATIONS, sensitivity_dbm, tables
from netcarlo.numerics import portable
from netcarlo.numerics.arrays import Floats, Ints
from netcarlo.schema.draws import Draws

NOISE_DBM_PER_HZ = -174.0
"""Thermal noise at 290 K."""
NOISE_FIGURE_DB = 7.0

_COUNTS_DB = np.round([0.0, *(10 * math.log10(count) for count in range(1, 9))], 6)
"""Numbers of streams and antennas [dB]."""


def usual_dbm(wireless: Wireless, draws: Draws) -> dict[str, Any]:
    """Return the default path loss over the first metre [dB], and the least power to decode and sense [n]."""
    found: dict[str, Any]
    if not wireless.has_edca:
        found = {"reference_db": 40.0, "decode_dbm": -72.0, "control_dbm": -82.0, "sense_dbm": -85.0}
    else:
        found = {"reference_db": tables()["bands"][wireless.band_used]["first_metre"]}
        found["decode_dbm"] = required_db(0) + floor_dbm(wireless, draws, wireless.mode(1, 0))
    return {name: np.broadcast_to(value, len(draws.replications)) for name, value in found.items()}


def floor_dbm(wireless: Wireless, draws: Draws, mode: Mode) -> Floats:
    """Return the power [n] [dBm] from which the signal-to-noise ratio of a mode with one stream counts.

    It is the noise of a typical receiver. A minimum receiver needs the sensitivity of the standard instead.
    """
    loss = wireless.path_loss
    assert loss is not None
    if loss.receiver == "minimum":
        level = sensitivity_dbm(mode.mcs, mode.width) - required_db(mode.mcs)
        return np.full(len(draws.replications), level)
    usual = np.full(len(draws.replications), NOISE_FIGURE_DB)
    figure = draws.either("wireless.path_loss.noise_figure_db", loss.noise_figure_db, usual)
    return figure + (NOISE_DBM_PER_HZ + 60 + 10 * portable.log2(float(mode.width)) / portable.log2(10.0))


class Budget:
    """Links of rows [n] by received power: MPDUs of `size` bytes [n]."""

    def __init__(self, wireless: Wireless, draws: Draws, size: Ints) -> None:
        self.size = size
        self.modes = wireless.modes
        self.standards = [GENERATIONS.index(mode.standard) for mode in self.modes]
        self.rates = wireless.mode_rates[-len(self.modes) :]
        self.shared = wireless.path_loss is not None and wireless.path_loss.receiver != "minimum"
        self.floors = [floor_dbm(wireless, draws, mode) for mode in self.modes]

    def errors(self, number: int, power_dbm: Floats, antennas: Ints) -> Floats:
        """Return the probability [n] that noise destroys an MPDU in mode `number`.

        Streams share the power of a typical transmitter, and antennas without a stream of their own add to it
        at the receiver. Minimum sensitivities are equal for all numbers of streams.
        """
        mode = self.modes[number]
        ratio = power_dbm - self.floors[number]
        if self.shared:
            ratio = ratio + (_COUNTS_DB[antennas] - 2 * _COUNTS_DB[mode.streams])
        return frame_error(mode.mcs, ratio, self.size)

    def every(self, power_dbm: Floats, antennas: Ints) -> Floats:
        """Return the probabilities that noise destroys MPDUs in each mode [n, modes]."""
        each = [self.errors(number, power_dbm, antennas) for number in range(len(self.modes))]
        return np.stack(each, axis=1)

    def best(self, power_dbm: Floats, antennas: Ints, standard: Ints) -> Ints:
        """Return the number [n] of the mode of a standard (place in `GENERATIONS`) with the greatest product
        of rate and success probability, with at most one stream for each antenna."""
        goodputs = np.full((len(self.modes), len(power_dbm)), -1.0)
        for number, (mode, rate) in enumerate(zip(self.modes, self.rates, strict=True)):
            possible = (mode.streams <= antennas) & (self.standards[number] == standard)
            if possible.any():
                good = rate * (1 - self.errors(number, power_dbm, antennas))
                goodputs[number] = np.where(possible, good, -1.0)
        return np.asarray(np.argmax(goodputs, axis=0))

    def of(self, numbers: Ints, power_dbm: Floats, antennas: Ints) -> Floats:
        """Return the probabilities [n] that noise destroys MPDUs in modes by number [n]."""
        found = np.zeros(len(numbers))
        for number in np.unique(numbers):
            found = np.where(numbers == number, self.errors(int(number), power_dbm, antennas), found)
        return found
