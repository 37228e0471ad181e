"""Compare results that are read or simulated. Values with common random numbers are paired."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from netcarlo.comparison import estimated
from netcarlo.comparison.comparison import Comparison
from netcarlo.comparison.labels import labels_of, with_values
from netcarlo.comparison.pairs import compared
from netcarlo.comparison.reading import Result, name_of, path_of, read_result, side_of
from netcarlo.comparison.winner import Winner, decide
from netcarlo.errors import InputError
from netcarlo.estimation import verdicts
from netcarlo.estimation.replications import Replications
from netcarlo.scenario import Scenario, scenario_of
from netcarlo.schema.arguments import checked
from netcarlo.simulation import validated
from netcarlo.simulation.launches import Job
from netcarlo.simulation.outcomes import Outcomes
from netcarlo.simulation.progress import Progress, reporter
from netcarlo.simulation.provenance import provenance
from netcarlo.simulation.simulate import simulate_all
from netcarlo.simulation.targets import resolve_target


@checked
def compare(
    baseline: Result,
    *others: Result,
    of: str | Sequence[str] | None = None,
    values: Mapping[str, Any] | None = None,
    replications: int | None = None,
    seed: int | None = None,
    until_decided: bool = False,
    target: str = "auto",
    threads: int | None = None,
    progress: Progress | None = None,
    large: bool = False,
) -> Comparison:
    """Compare results of one kind: differences of their settings and outcomes, and which are significant.

    Every pair of results is compared. The outcomes `of` come first; by default those that the files request,
    else those of which more or less is better. `values` are fields to set in the scenarios, by their dotted
    names; a name such as `B:transport.protocol` sets the field of one side, given by its name, the stem of
    its file, or its letter.

    Scenarios are simulated with common random numbers: the k-th packet on a hop has the same random numbers
    in all. Seed and number of replications are those of the first scenario unless given; a precision is
    ignored. With `until_decided`, replications are added until it is known with 95 % confidence which
    scenario has the best mean of the first outcome of `of` (default: goodput_bps), or there are
    `replications` (default: 4,000); the other verdicts are then those of a fixed number of replications.
    `target`, `threads`, `progress` and `large` are as in `estimate`. Other results are read. Values of
    sides with common random numbers are paired if the single values are stored; otherwise the sides count
    as independent. Raises InputError if the kinds differ, or if two sides have no cell and quantity in
    common.
    """
    asked = [baseline, *others]
    if len(asked) < 2:
        raise InputError("compare needs at least two results; name another one")
    read = [read_result(each) for each in asked]
    names = [name_of(each, found) for each, found in zip(asked, read, strict=True)]
    paths = [path_of(each, name) for each, name in zip(asked, names, strict=True)]
    stems = [
        Path(path).stem if isinstance(each, str | os.PathLike) else path
        for each, path in zip(asked, paths, strict=True)
    ]
    read = with_values(read, names, stems, values or {})
    scenarios = [each for each in read if isinstance(each, Scenario)]
    if until_decided and len(scenarios) < len(read):
        raise InputError("until_decided adds replications, and a result is read from a file; name scenarios")
    if not scenarios and (replications is not None or seed is not None):
        raise InputError(
            "replications and seed apply to scenarios, and all results here are read from files; remove them"
        )
    names_of = [of] if isinstance(of, str) else of
    winner = None
    if until_decided:
        winner, simulated = _decided(
            scenarios, (names_of or ["goodput_bps"])[0], replications, seed, target, threads, progress, large
        )
    else:
        simulated = _simulated(scenarios, replications, seed, target, threads, progress, large)
    made = iter(simulated)
    labels = labels_of(names, stems, paths, read)
    sides = [
        next(made)(label) if isinstance(each, Scenario) else side_of(label, each)
        for label, each in zip(labels, read, strict=True)
    ]
    return replace(compared(sides, of=names_of), winner=winner)


def _simulated(
    scenarios: list[Scenario], replications: int | None, seed: int | None, target: str,
    threads: int | None, progress: Progress | None, large: bool,
) -> list[Any]:  # fmt: skip
    """Simulate scenarios. Return for each a function that makes its side from a label."""
    if not scenarios:
        return []
    first = scenarios[0]
    n, seed = replications or first.replications, first.seed if seed is None else seed
    same = [scenario_of(each, values={"replications": n, "seed": seed}) for each in scenarios]
    target = resolve_target(target, [(each, n) for each in same], threads=threads)
    found = simulate_all(
        [Job(each, 0, n) for each in same], target=target, threads=threads, progress=progress, large=large
    )
    return _makers(same, found, target)


def _decided(
    scenarios: list[Scenario], of: str, replications: int | None, seed: int | None, target: str,
    threads: int | None, progress: Progress | None, large: bool,
) -> tuple[Winner, list[Any]]:  # fmt: skip
    """Simulate scenarios until it is decided which is best. Return the answer, and the same as
    `_simulated`."""
    most, seed = replications or verdicts.MAX_REPLICATIONS, scenarios[0].seed if seed is None else seed
    given = [scenario_of(each, values={"seed": seed}) for each in scenarios]
    target = resolve_target(target, [(each, most) for each in given], threads=threads)
    runs = [Replications(each, target=target, threads=threads, large=large) for each in given]
    winner = decide(runs, of, most=most, progress=reporter(progress))
    same = [each.model_copy(update={"replications": winner.replications}) for each in given]
    return winner, _makers(same, [one.outcomes() for one in runs], target)


def _makers(same: Sequence[Scenario], found: Sequence[Outcomes], target: str) -> list[Any]:
    """Return for each simulated scenario a function that makes its side from a label."""
    records = [provenance(each, target=target, replications=each.replications) for each in same]
    return [
        lambda label, o=outcomes, r=record, s=one: estimated.of_outcomes(label, o, r, validated.sentence(s))
        for outcomes, record, one in zip(found, records, same, strict=True)
    ]
