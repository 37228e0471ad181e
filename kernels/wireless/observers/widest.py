"""Number of classes for which the outcomes of a launch have room."""

from typing import Any

from netcarlo.kernels.base.bind import slot
from netcarlo.kernels.base.classes import ClassOut
from netcarlo.kernels.base.delays import DelayOut
from netcarlo.kernels.base.inline import noinline
from netcarlo.kernels.wireless.layout import FlowOut, NodeOut, Radio, WifiOut

queues: Any = slot("queues")
DELAYS: Any = slot("delays")
ARRIVALS: Any = slot("arrivals")


@noinline
def classes_of_launch(m: Any, nodes: Any, out: Any) -> Any:
    """Return the number of classes of the widest row of the launch, the same of delays and of arrivals.

    A row does not know how many flows have outcomes, but the columns of a flow and of a class have few common
    factors: the number is the only one below a quarter of FlowOut.COLUMNS that leaves whole flows.
    """
    each = (DelayOut.COLUMNS if DELAYS else 0) + (ClassOut.COLUMNS if ARRIVALS else 0)
    columns = out.shape[0] - WifiOut.COLUMNS - nodes.shape[0] * (NodeOut.COLUMNS + queues.COLUMNS)
    found = max(m[Radio.DELAY_CLASSES], m[Radio.ARRIVAL_CLASSES])
    while (columns - found * each) % FlowOut.COLUMNS != 0:
        found += 1
    return found
