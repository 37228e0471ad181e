"""Reproduction of published studies, one after the other."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from netcarlo.errors import Faults, InputError
from netcarlo.schema.arguments import checked
from netcarlo.simulation.progress import Progress

if TYPE_CHECKING:
    from netcarlo.studies.evaluation import Evaluation
    from netcarlo.studies.study import Study


@checked
def reproduce(
    names: Sequence[str | Path] = (),
    *,
    replications: int | None = None,
    seed: int | None = None,
    target: str = "auto",
    progress: Progress | None = None,
    large: bool = False,
) -> Iterator["Evaluation"]:
    """Simulate studies and compare every published number with its estimate.

    `names` are those of studies that netcarlo includes (by default all), and folders of your own. Each
    evaluation is simulated when the iterator reaches it. By default, `replications` and `seed` are those
    of the study. `progress(done, total)` is called with numbers of replications of a study; `large` is as in
    `estimate`. Raises InputError at the call for an unknown study and for all faults of a folder, and when
    the iterator reaches a study that cannot be simulated. Code of a folder (`claims.py`) must be trusted, see
    `netcarlo.trust`.
    """
    from netcarlo.studies.evaluation import evaluate

    chosen = chosen_studies(names)
    return (
        evaluate(one, replications=replications, seed=seed, target=target, progress=progress, large=large)
        for one in chosen
    )


def chosen_studies(names: Sequence[str | Path]) -> list["Study"]:
    """Return studies by their names or folders, by default all that netcarlo includes.

    Those in folders are checked as a whole. Raises InputError.
    """
    from netcarlo.studies import study
    from netcarlo.studies.checking import check_study

    chosen = [study.load(name) for name in dict.fromkeys(names or study.names())]
    seen: dict[str, Study] = {}
    faults = Faults()
    for one in chosen:
        with faults:
            if one.name in seen:
                raise InputError(
                    f"{one.folder} and {seen[one.name].folder} would both write their reports to {one.name}; "
                    "reproduce them separately, with different --out"
                )
            seen[one.name] = one
            if not one.package:
                check_study(one)
    faults.refuse()
    return chosen
