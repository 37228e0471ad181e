"""The page of a scenario's estimate: the number first, its figures, every outcome, and what was asked."""

from collections.abc import Sequence

from netcarlo.reports.page import page
from netcarlo.reports.parts.figures import Plot
from netcarlo.reports.parts.setting import setting
from netcarlo.scenario import Scenario
from netcarlo.simulation.provenance import model_version, versions


def estimate_page(
    scenarios: Sequence[Scenario],
    numbers: Sequence[tuple[str, str, str, str, str]],
    figures: Sequence[Plot],
    outcomes: Sequence[Sequence[str]],
    commands: Sequence[str],
    along: str,
) -> str:
    """The HTML: `numbers` are name, number, unit, interval and what answered of each variant and of their
    difference, `outcomes` name, mean, interval and meaning of the first's; the first of the `figures` is
    `along` the field of this name.
    """
    captions = (
        f"Along {along}",
        "How the interval shrinks as packets are simulated; dotted: the cheap model",
    )
    return page(
        "estimate.html",
        title=scenarios[0].name,
        description=scenarios[0].description,
        numbers=numbers,
        figures=[
            {"name": f"figure-{k}", "caption": captions[k], "plot": figure}
            for k, figure in enumerate(figures)
        ],
        outcomes=outcomes,
        settings=[setting(scenario, None) for scenario in scenarios],
        provenance={
            "model version": model_version(),
            "seed": str(scenarios[0].seed),
            "versions": ", ".join(f"{name} {version}" for name, version in versions().items()),
            "to get it again": "; ".join(commands),
        },
    )
