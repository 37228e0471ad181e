"""A source of datagrams at equal intervals."""

from typing import Any

import numpy as np

from netcarlo.kernels.base.layout import FOREVER, P


def sent_at(p: Any, number: Any) -> Any:
    """When a datagram is put out [ns], or FOREVER if there is no such one."""
    t = p[P.START] + number * p[P.INTERVAL]
    return t if number < p[P.LIMIT] and t < p[P.STOP] else np.int64(FOREVER)
