"""The first figure of a result's page, for notebooks and papers."""

import os
from collections.abc import Mapping
from typing import Any

from netcarlo.comparison.comparison import Comparison
from netcarlo.errors import InputError
from netcarlo.estimation.estimate import Estimate
from netcarlo.planning.designs import Frontier
from netcarlo.planning.run import Answer
from netcarlo.reports.comparison.figures import differences
from netcarlo.reports.frontier.figures import border
from netcarlo.reports.plan.figures import curve
from netcarlo.reports.sweep.curves import curves
from netcarlo.schema.arguments import checked
from netcarlo.sweeps.stored import StoredSweep
from netcarlo.sweeps.stored import open as open_store


@checked
def plot(
    result: str | os.PathLike[str] | StoredSweep | Estimate | Answer | Frontier | Comparison,
    *,
    x: str | None = None,
    y: str | None = None,
    by: str | None = None,
    where: Mapping[str, Any] | None = None,
) -> Any:
    """Return a Plotly figure of a result.

    For a sweep (its folder, URL or `StoredSweep`) it shows the outcome `y` over the column `x`, with a line
    and 95 % intervals for each value of `by`, of the cells `where` columns have certain values. Otherwise it
    shows the goodput of an estimate (`Estimate.plot` has other outcomes), the probabilities of a plan over
    its quantity, the region of a plan with two quantities, or the differences of a comparison.

    Raises InputError if nothing can be drawn.
    """
    import plotly.graph_objects as go

    if isinstance(result, str | os.PathLike):
        result = open_store(result)
    if isinstance(result, StoredSweep):
        found = curves(result.store, x, y, by, where)
        return go.Figure(found["data"], {"template": "plotly_white"} | found["layout"])
    if any(value is not None for value in (x, y, by, where)):
        raise InputError("x, y, by and where are for the store of a sweep; remove them")
    if isinstance(result, Estimate):
        return result.plot()
    if isinstance(result, Answer):
        drawn = curve(result)
    elif isinstance(result, Frontier):
        drawn = border(result)
    elif (shown := differences(result)) is not None:
        drawn = shown
    else:
        raise InputError("the comparison has no difference that is a number; print its to_frame()")
    return go.Figure(drawn["data"], {"template": "plotly_white"} | drawn["layout"])
