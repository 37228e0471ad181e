"""The first figure of a result's page, for notebooks and papers."""

from typing import Any

from netcarlo.comparison.compare import Comparison
from netcarlo.errors import InputError
from netcarlo.estimation.estimate import Estimate
from netcarlo.planning.designs import Frontier
from netcarlo.planning.run import Answer
from netcarlo.reports.comparison.figures import differences
from netcarlo.reports.frontier.figures import border
from netcarlo.reports.plan.figures import curve
from netcarlo.schema.arguments import checked


@checked
def plot(result: Estimate | Answer | Frontier | Comparison) -> Any:
    """A Plotly figure: the goodput of an estimate (`Estimate.plot` has those of other outcomes), the
    probabilities of a plan along its quantity, what holds over both quantities of one that has two, or the
    differences of a comparison with their intervals.

    Raises InputError where nothing can be drawn.
    """
    import plotly.graph_objects as go

    if isinstance(result, Estimate):
        return result.plot()
    if isinstance(result, Answer):
        drawn = curve(result)
    elif isinstance(result, Frontier):
        drawn = border(result)
    elif (found := differences(result)) is not None:
        drawn = found
    else:
        raise InputError("the comparison has no difference that is a number; print its to_frame()")
    return go.Figure(drawn["data"], {"template": "plotly_white"} | drawn["layout"])
