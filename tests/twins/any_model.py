"""Twin of any packet model, and random scenarios for it."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from netcarlo.kernels import models
from netcarlo.kernels.senders import ALONE, UDP
from netcarlo.kernels.shared.layout import Flow
from tests.twins import run as path
from tests.twins.adhoc import run as adhoc
from tests.twins.rows import rows_of
from tests.twins.shared import run as shared
from tests.twins.wireless import run as wireless


def scenarios(name: str, count: int, *, seed: int) -> Any:
    """Return random scenarios for the model of this name; on shared links all TCP flows are of its sender."""
    address = models.model(name).address
    rows: Any = rows_of(name, count, seed=seed)
    if address.family == "shared" and address.sender not in ("linux", "mixed"):
        flows = rows.flows.copy()
        flows[:, :, Flow.KIND] = np.where(flows[:, :, Flow.KIND] == UDP, UDP, ALONE)
        rows = rows._replace(flows=flows)
    return rows


def simulate(name: str, rows: Any, *, row: int) -> NDArray[np.int64]:
    """Return the outcomes of one row under a model, as `launch.run` does; without EVENTS for shared links."""
    address = models.model(name).address
    if address.family == "path":
        return path.simulate(name, rows, row=row)
    if address.family == "wireless":
        return wireless.simulate(name, rows, row=row)
    if address.family == "adhoc":
        return adhoc.simulate(name, rows, row=row)
    alone = "_".join(filter(None, [address.sender, address.control]))
    return shared.simulate(rows, row=row, alone=alone if address.sender not in ("linux", "mixed") else "")
