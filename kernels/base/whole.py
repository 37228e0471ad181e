"""Whole numbers that are never negative."""

from typing import Any

import numpy as np


def quotient(number: Any, divisor: Any) -> Any:
    """`number // divisor`, of numbers without sign: there is none to be looked after."""
    return np.int64(np.uint64(number) // np.uint64(divisor))
