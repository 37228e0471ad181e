"""Published studies carried out, one after the other."""

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
    """Simulate studies (all of them unless named) and set every published number beside ours.

    Each evaluation is simulated as it is asked for.  `replications` and `seed` are the study's own unless
    given; `progress(done, total)` counts the replications of a study; `large` as in `estimate`.  Raises
    InputError at the call for an unknown study, and as `evaluate` later.
    """
    from netcarlo.studies import study
    from netcarlo.studies.evaluation import evaluate

    chosen = [study.load(name) for name in dict.fromkeys(names or study.names())]
    return (
        evaluate(one, replications=replications, seed=seed, target=target, progress=progress, large=large)
        for one in chosen
    )
