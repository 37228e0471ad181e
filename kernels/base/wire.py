"""Transmission times."""

from typing import Any

import numpy as np

from netcarlo.kernels.base.layout import BYTE_TIME_BITS

_HALF = np.int64(1 << (BYTE_TIME_BITS - 1))
_BITS = np.int64(BYTE_TIME_BITS)


def on_wire(size: Any, byte_time: Any) -> Any:
    """Return the transmission time of `size` bytes [ns]; `byte_time` has BYTE_TIME_BITS fraction bits."""
    return (size * byte_time + _HALF) >> _BITS
