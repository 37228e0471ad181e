"""Results that are compared: reading them, and their names and paths."""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from netcarlo.comparison import estimated, planned, reproduced, stores
from netcarlo.comparison.side import Side
from netcarlo.errors import InputError
from netcarlo.estimation.estimate import Estimate
from netcarlo.planning.designs import Frontier
from netcarlo.planning.run import Answer
from netcarlo.scenario import Scenario, ScenarioLike, scenario_of
from netcarlo.schema import document as files
from netcarlo.schema import kinds
from netcarlo.sweeps.store.store import Store

Result = ScenarioLike | Estimate | Answer | Frontier | Store
"""Object that can be compared: a scenario, which is simulated; a result; or the path of a store, of the
folder or `result.json` of a plan, of the output of `netcarlo estimate --json`, or of the folder of a
reproduced study."""


def read_result(asked: Result) -> Any:
    """Return a scenario or a result; read it if a path is given. Raises InputError."""
    if isinstance(asked, Scenario | Estimate | Answer | Frontier | Store):
        return asked
    if isinstance(asked, Mapping):
        return scenario_of(asked)
    if "://" in str(asked):
        return Store.open(str(asked))
    path, kind = Path(asked), kinds.kind_of(asked)
    if kind == kinds.STORE:
        return Store.open(path)
    if kind == kinds.PLANNED:
        return _json(path / "result.json")
    if kind in (kinds.RECORD, kinds.JSON):
        return _json(path)
    if kind == kinds.REPRODUCED:
        return path
    if kind in (kinds.SCENARIO, "") and not path.is_dir():
        return scenario_of(path)
    what = f"this is {kind}" if kind else "contains no results"
    remedy = f"; first {kinds.REMEDIES[kind].format(path)}" if kind in (kinds.SWEEP, kinds.PLAN) else ""
    if kind in kinds.OF_PROGRAMS:
        raise InputError(f"{path}: {what}; {kinds.REMEDIES[kind].format(path)}")
    raise InputError(f"{path}: {what}; compare takes scenarios, stores and results{remedy}")


def _json(path: Path) -> Mapping[str, Any]:
    try:
        data = json.loads(files.read_text(path))
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path}: is not JSON ({error}); name a result of estimate --json or plan") from None
    if not isinstance(data, dict) or not kinds.RESULTS & data.keys():
        known = "netcarlo estimate --json or netcarlo plan, and not a measured run of iperf3 or flent"
        raise InputError(f"{path}: is not a result of {known}; name one")
    return data


def side_of(label: str, found: Any) -> Side:
    """Return the side of a result that was read."""
    if isinstance(found, Store):
        return stores.of_store(label, found)
    if isinstance(found, Estimate):
        return estimated.of_estimate(label, found)
    if isinstance(found, Answer | Frontier):
        return planned.of_record(label, found.record())
    if isinstance(found, Path):
        return reproduced.of_folder(label, found)
    if "outcomes" in found:
        return estimated.of_record(label, found)
    return planned.of_record(label, found)


def name_of(asked: Result, found: Any) -> str:
    """Return the name of a side: the name of a scenario, or that of the folder or file of results."""
    if isinstance(found, Scenario):
        return found.name
    if isinstance(asked, str | os.PathLike):
        return path_of(asked, "").rpartition("/")[2]
    if isinstance(asked, Store):
        return asked.url.rstrip("/").rpartition("/")[2]
    if isinstance(asked, Estimate):
        return asked.scenario.name
    return str(found.plan.name)


def path_of(asked: Result, name: str) -> str:
    """Return the path of a side, or its name if it has no path."""
    if isinstance(asked, str | os.PathLike):
        return os.fspath(asked).rstrip("/")
    return asked.url if isinstance(asked, Store) else name
