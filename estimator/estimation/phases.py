"""Detection of streams with equal intervals that share a queue: their offset is constant during a run."""

import warnings

import numpy as np

from netcarlo.errors import InputError
from netcarlo.networks.sources import Source, synchronised
from netcarlo.scenario import Scenario
from netcarlo.schema.draws import Draws
from netcarlo.schema.notes import Note

JITTER = "10 %"


def note(scenario: Scenario) -> None:
    """Warn if streams of a scenario stay synchronised in a queue, with a remedy that the scenario accepts."""
    if scenario.fidelity != "packet":
        return
    draws = Draws(scenario.seed, np.zeros(1, np.int64), np.full(1, scenario.topology))
    found = synchronised(scenario.network.sources(scenario, draws))
    if not found:
        return
    text = (
        f"{_names(found)} send at equal intervals into one queue, so the offset between their packets, drawn "
        f"once in each replication, decides whose packets are dropped: {_remedy(scenario, found)}"
    )
    warnings.warn(text, Note, stacklevel=3)


def _names(sources: list[Source]) -> str:
    shown = [source.name for source in sources[:3]]
    if len(sources) > len(shown):
        return f"{', '.join(shown)} and {len(sources) - len(shown)} more"
    return f"{', '.join(shown[:-1])} and {shown[-1]}"


def _remedy(scenario: Scenario, sources: list[Source]) -> str:
    fields = list(dict.fromkeys(source.field for source in sources))
    try:
        scenario.with_values(dict.fromkeys(fields, JITTER))
    except InputError:
        return "give them different rates"
    options = " ".join(f"--set {field}='{JITTER}'" for field in fields[:3])
    return f"write jitter: {JITTER} ({options}{' ...' if fields[3:] else ''})"
