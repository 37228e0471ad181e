"""Reproductions of the studies, shared by the tests of their pages."""

from pathlib import Path

import pytest

from netcarlo.studies.evaluation import Evaluation
from tests.studies.reproductions import reproduction, written


@pytest.fixture(scope="session")
def reproduced(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Evaluation]:
    """Return the folder with the pages, and their content."""
    out = tmp_path_factory.mktemp("reproduced")
    return out, written("sctp_linkdown", out, replications=3)


@pytest.fixture(scope="session")
def mobility(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Evaluation]:
    """Return the report of the study of mobility, which is judged by differences."""
    out = tmp_path_factory.mktemp("mobility")
    return out, written("mobility", out, replications=5)


@pytest.fixture(scope="session")
def wlan_buffer() -> tuple[Path, Evaluation]:
    """Return the report of the study of sender buffers: an 802.11 network."""
    return reproduction("wlan_buffer")


@pytest.fixture(scope="session")
def wds() -> tuple[Path, Evaluation]:
    """Return the report of the study of a wireless distribution system: no table, and radio beside
    cables."""
    return reproduction("wds")


@pytest.fixture(scope="session")
def manet_probing() -> tuple[Path, Evaluation]:
    """Return the report of the study of TCP-Probing: an ad hoc network, and maps."""
    return reproduction("manet_probing")
