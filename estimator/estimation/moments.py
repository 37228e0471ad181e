"""Warning about runs at random moments of a year, few of which see an outage."""

import warnings

import numpy as np

from netcarlo.scenario import Scenario
from netcarlo.schema.notes import Note
from netcarlo.schema.quantity import bounds


def note(scenario: Scenario) -> None:
    """Warn that outages of years occur in few runs, which begin at random moments of the year."""
    rare = [each for each in scenario.network.rare_outages() if each.outages.during is None]
    if rare and not scenario.network.no_availability:
        up = np.prod([each.outages.shares(bounds(scenario.duration)[1])["up"] for each in rare])
        text = (
            f"runs begin at random moments of the year, and {100 * (1 - up):.2g} % of them see an outage; "
            "for the whole year run netcarlo availability, for a part of it write during: down in outages"
        )
        warnings.warn(text, Note, stacklevel=3)
