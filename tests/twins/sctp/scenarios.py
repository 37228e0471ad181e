"""Random scenarios of SCTP with the rules of RFC 9260."""

from typing import Any

import numpy as np

from netcarlo.kernels.base.parameters import Rfc9260P, SctpP


def with_rfc9260(rows: Any, *, seed: int) -> Any:
    """Return the same networks with the rules of RFC 9260 and, mostly, a potentially failed state.

    On shared links the columns are those of the flows.
    """
    rng = np.random.default_rng([seed, 9260])
    name = "flows" if hasattr(rows, "flows") and rows.flows.ndim == 3 else "parameters"
    table = getattr(rows, name).copy()
    shape = table.shape[:-1]
    table[..., Rfc9260P.RFC9260] = table[..., SctpP.RWND] > 0
    table[..., Rfc9260P.PF_ERRORS] = rng.choice([0, 1, 1, 2, 3], shape)
    table[..., Rfc9260P.ABC_LIMIT] = rng.choice([1, 1, 2], shape)
    table[..., Rfc9260P.CMT] = rng.choice([0, 0, 1], shape)
    table[..., Rfc9260P.FREE_T3] = rng.choice([0, 0, 1], shape)
    return rows._replace(**{name: table})
