"""What an ad hoc network costs: frames and legs, times the nodes that each concerns."""

import numpy as np

from netcarlo.kernels.adhoc.layout import Manet, ManetRows
from netcarlo.kernels.base.cost import Floats
from netcarlo.kernels.base.layout import P


def cost(rows: ManetRows) -> Floats:
    """About the events of each row, float64[n]."""
    p = rows.parameters
    frame = p[:, Manet.BYTE_TIME] * (p[:, P.DATA] + p[:, P.HEADER] + p[:, Manet.OVERHEAD])
    control = p[:, Manet.RTS] + p[:, Manet.CTS] + p[:, Manet.MAC_ACK] + 3 * p[:, Manet.SIFS]
    exchange = np.maximum(np.maximum(frame + control, p[:, P.INTERVAL]), 1)
    frames = np.minimum(p[:, P.END] / exchange, 2.0 * p[:, P.LIMIT])
    moving = (p[:, P.END] + p[:, Manet.MOTION_BEFORE]) / np.maximum(1000 * p[:, Manet.LEG], 1_000_000_000)
    return p[:, Manet.NODES] * (frames + moving)  # type: ignore[no-any-return]
