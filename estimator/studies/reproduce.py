"""Reproduction of published studies, one after the other."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from netcarlo.schema.arguments import checked
from netcarlo.simulation.progress import Progress

if TYPE_CHECKING:
    from netcarlo.studies.evaluation import Evaluation


@checked
def reproduce(
    names: Sequence[str] = (),
    *,
    replications: int | None = None,
    seed: int | None = None,
    target: str = "auto",
    progress: Progress | None = None,
    large: bool = False,
) -> Iterator["Evaluation"]:
    """Simulate the named studies, by default all, and compare every published number with its estimate.

    Each evaluation is simulated when the iterator reaches it. By default, `replications` and `seed` are those
    of the study. `progress(done, total)` is called with numbers of replications of a study; `large` is as in
    `estimate`. Raises InputError at the call for an unknown study, and later like `evaluate`.
    """
    from netcarlo.studies import study
    from netcarlo.studies.evaluation import evaluate

    chosen = [study.load(name) for name in dict.fromkeys(names or study.names())]
    return (
        evaluate(one, replications=replications, seed=seed, target=target, progress=progress, large=large)
        for one in chosen
    )
