"""Arithmetic of non-negative integers."""

from typing import Any

import numpy as np


def quotient(number: Any, divisor: Any) -> Any:
    """Return `number // divisor` of non-negative numbers, without the test of signs."""
    return np.int64(np.uint64(number) // np.uint64(divisor))
