"""A kind of network is a folder and a line in the registry: no other module distinguishes kinds."""

import ast
from collections.abc import Iterator
from enum import IntEnum
from pathlib import Path

import pytest

from netcarlo.kernels.adhoc.layout import ManetOut
from netcarlo.kernels.base.layout import Out
from netcarlo.kernels.base.rows import STATUS
from netcarlo.kernels.shared.layout import SharedOut
from netcarlo.kernels.wireless.layout import WifiOut
from netcarlo.networks.family import Network
from netcarlo.networks.outcome import declared
from netcarlo.networks.path.managed import ManagedPath
from netcarlo.networks.registry import BY_KEY, NETWORKS
from netcarlo.scenario import Scenario

ROOT = Path(__file__).parents[2]
FOLDERS = {"paths": "path"} | {key: key for key in BY_KEY if key != "paths"}
OWN = {
    "estimator/captures/udp.py": "UDP is part of the engines of paths and shared links",
    "estimator/cli/importing.py": "maps of routers become shared networks",
    "estimator/estimation/reference.py": "its files of flows and of links are of shared networks",
    "estimator/studies/manet_probing/claims.py": "a study of one ad hoc network",
    "estimator/studies/wds/metrics.py": "a study of radio beside a wire",
    "estimator/studies/wds/claims.py": "the same",
    "estimator/studies/wlan_buffer/claims.py": "a study of one radio",
    "reports/trace/radio.py": "figures of frames",
}
"""Modules that may refer to a kind of network, with the reason; none of them chooses between kinds."""


def outside() -> Iterator[tuple[str, ast.Module]]:
    """Return the modules that use networks only through their functions."""
    for folder in ("estimator", "reports"):
        for file in sorted((ROOT / folder).rglob("*.py")):
            name = file.relative_to(ROOT).as_posix()
            if not name.startswith("estimator/networks/") and name not in OWN:
                yield name, ast.parse(file.read_text())


def known(tree: ast.Module) -> Iterator[str]:
    """Return the references of a module to a kind of network: its folder, its rows, its field or its key."""
    words = {key for key in BY_KEY if key != "paths"}  # an ordinary word
    rows = {"Rows", "WifiRows", "ManetRows", "SharedRows"}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module is not None:
            parts = node.module.split(".")
            names = {*parts[2:], *(n.name for n in node.names)}
            if parts[1:2] == ["networks"] and names & {*FOLDERS.values()}:
                yield f"import of {node.module}"
            if rows & {n.name for n in node.names}:
                yield f"rows of {node.module}"
        elif isinstance(node, ast.Attribute) and node.attr in words:
            yield f".{node.attr}"
        elif isinstance(node, ast.Constant) and node.value in words:
            yield repr(node.value)


@pytest.mark.full
def test_nothing_outside_asks_which_network_it_has() -> None:
    found = [f"{name}: {what}" for name, tree in outside() for what in known(tree)]
    assert found == []


@pytest.mark.parametrize("kind", NETWORKS, ids=lambda kind: kind.key)
def test_a_kind_answers_everything(kind: type[Network]) -> None:
    assert not kind.__abstractmethods__
    assert kind.__module__ == f"netcarlo.networks.{FOLDERS[kind.key]}.network"
    assert (ROOT / "kernels" / FOLDERS[kind.key]).is_dir()
    names = [outcome.name for other in NETWORKS for outcome in declared(other.outcomes)]
    assert len(set(names)) == len(names)


def test_an_outcome_of_several_kinds_is_declared_by_one_of_them() -> None:
    """An outcome of several kinds is declared once; other kinds refer to it with `same`."""
    known = {outcome.name for kind in NETWORKS for outcome in declared(kind.outcomes)}
    for kind in (*NETWORKS, ManagedPath):
        computed = [outcome.name for outcome in kind.outcomes if outcome.column is not None]
        assert len(set(computed)) == len(computed) and set(computed) <= known, kind.key


def test_fields_of_a_scenario_are_in_the_order_in_which_they_enter_its_identity() -> None:
    run = ["name", "description", "duration", "warm_up", "seed", "topology", "replications", "precision"]
    networks = ["mobility", "paths", "wireless", "adhoc", "shared"]
    assert [*Scenario.model_fields] == [*run, "sample_interval", "transport", *networks, "fidelity", "live"]


@pytest.mark.parametrize("outcomes", [Out, WifiOut, ManetOut, SharedOut])
def test_the_status_comes_first(outcomes: type[IntEnum]) -> None:
    assert outcomes["STATUS"] == STATUS
