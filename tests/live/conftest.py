"""Live pages that this process serves."""

from collections.abc import Callable
from pathlib import Path

import pytest

from netcarlo.live import server

LOSSY = """\
name: lossy
description: A transfer through a hop that loses packets.
duration: 2 s
replications: 40
transport: {protocol: newreno, window: 16}
hops: [{rate: 4 Mbit/s, delay: 10 ms, queue: 20, loss: 1 %}]
"""
PLAN = """\
name: how_far
scenario:
  duration: 1 s
  transport: {protocol: newreno, window: 4, payload: 1460 B}
  hops:
    - {rate: 2 Mbit/s, delay: 1 ms}
    - {rate: 20 Mbit/s, delay: {uniform: [0 ms, 20 ms]}}
quantity: {name: delay, field: hops.0.delay, linear: [1 ms, 37 ms], step: 6 ms}
requirements:
  goodput: {goal: goodput_bps >= 0.6 Mbit/s, probability: 80 %}
replications: 64
confidence: 80 %
"""


@pytest.fixture(scope="session")
def lossy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a scenario of a few milliseconds."""
    file = tmp_path_factory.mktemp("live") / "lossy.yaml"
    file.write_text(LOSSY)
    return file


@pytest.fixture(scope="session")
def plan(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a plan that takes one second."""
    file = tmp_path_factory.mktemp("live") / "plan.yaml"
    file.write_text(PLAN)
    return file


@pytest.fixture(scope="session")
def served() -> Callable[[Path], str]:
    """Serve the page of a file, and return its address."""
    known: dict[Path, str] = {}

    def serve(file: Path) -> str:
        if file not in known:
            listening = server.bound("127.0.0.1", 0)
            server.begin(server.page_of(file, {}), listening)
            known[file] = f"http://127.0.0.1:{listening.getsockname()[1]}/"
        return known[file]

    return serve
