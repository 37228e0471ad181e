"""Script that runs in a copy of the package with stop-and-wait: compares its models with their twin.

Prints as JSON, by model, the first differences, the largest value of each outcome of a flow, and the number
of transmissions of all flows.
"""

import json
import sys
import warnings
from contextlib import ExitStack
from typing import Any
from unittest.mock import patch

sys.path.append(sys.argv[1])

from netcarlo.kernels import models
from netcarlo.kernels.adhoc.layout import ManetOut
from netcarlo.kernels.base.layout import Out
from netcarlo.kernels.shared.layout import FlowOut as SharedFlowOut
from netcarlo.kernels.shared.layout import SharedOut
from netcarlo.kernels.wireless.layout import FlowOut, WifiOut
from tests.kernels.beside_twin import differing, run_as_python
from tests.toy_transport import twin
from tests.twins import run as path_run
from tests.twins.adhoc import run as adhoc_run
from tests.twins.adhoc import world as adhoc_world
from tests.twins.rows import rows_of
from tests.twins.shared import run as shared_run
from tests.twins.shared import world as shared_world
from tests.twins.wireless import run as wireless_run
from tests.twins.wireless import world as wireless_world

ROWS = {"path": 8, "shared": 4, "wireless": 6, "adhoc": 4}
"""Number of random networks by kind."""


def expected(name: str, rows: Any, row: int) -> Any:
    """Return the outcomes of the twin."""
    family = models.model(name).address.family
    if family == "shared":
        return shared_run.simulate(rows, row=row)
    return {"path": path_run, "wireless": wireless_run, "adhoc": adhoc_run}[family].simulate(
        name, rows, row=row
    )


def of_flows(family: str, out: Any) -> dict[str, int]:
    """Return the largest value of each outcome of a flow."""
    columns: Any
    columns, first = {
        "path": (Out, 0), "adhoc": (ManetOut, 0), "shared": (SharedFlowOut, SharedOut.COLUMNS),
        "wireless": (FlowOut, WifiOut.COLUMNS),
    }[family]  # fmt: skip
    size = columns.COLUMNS if first else out.shape[1]
    return {c.name: int(out[:, first + c :: size].max()) for c in columns if c.name != "COLUMNS"}


def compare(name: str) -> dict[str, Any]:
    """Compare a model with its twin."""
    family = models.model(name).address.family
    rows = rows_of(name, ROWS[family], seed=7)
    out = run_as_python(name, rows)
    found = out.copy()
    if family == "shared":
        found[:, SharedOut.EVENTS] = 0  # the twin does not count them
    difference = differing(found, lambda row: expected(name, rows, row), str, str)
    return {"differing": difference, "largest": of_flows(family, out)}


with ExitStack() as stack:
    warnings.simplefilter("ignore")  # NumPy's scalars warn of what Philox intends
    for module, flow in (
        (adhoc_world, twin.AdhocFlow), (shared_world, twin.SharedFlow), (wireless_world, twin.WirelessFlow),
    ):  # fmt: skip
        stack.enter_context(patch.object(module, "Tcp", flow))
    stack.enter_context(patch.object(path_run, "run_tcp", twin.run_over_path))
    print(json.dumps({name: compare(name) for name in sys.argv[2:]}))
