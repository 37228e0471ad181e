"""Probability that a packet is not lost at random."""

from typing import Any

import numpy as np

from netcarlo.kernels.base.loss import DIGITS


def survival(losses: Any, row: Any) -> Any:
    """Return the probability that a packet is not lost at random, for a row of `loss.thresholds`."""
    if losses[row, DIGITS - 1] == np.uint32(0xFFFFFFFF):
        return 1.0
    odd = float(losses[row, 0]) / 2.0**32  # q / (1 + q) of the probability q
    return odd / (1.0 - odd)
