"""Stop-and-wait as a new transport: comparison with its twin in all kinds of networks.

It is added to a copy of the package as described in `docs/reference/adding.md`: a folder, and a line in each
of two registries.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.package_copy import ROOT, build, run_python
from tests.test_recipes import SENDERS, answers, over

TOY = ROOT / "tests" / "toy_transport"
NAME = "stop_and_wait"
LINES = {
    "kernels/senders.py": {SENDERS: f'    Sender("{NAME}", "{NAME}", handshake=False),'},
    "transport/registry.py": {
        "from netcarlo.transport.sctp import Sctp":
            f"from netcarlo.transport.{NAME} import StopAndWait",
        '    | Annotated[Linux26, Tag("<linux26>")]': f'    | Annotated[StopAndWait, Tag("<{NAME}>")]',
    },
}  # fmt: skip
MODELS = {
    **dict.fromkeys(("tcp_stop_and_wait", "tcp_stop_and_wait_delays"), "ACKED"),
    **dict.fromkeys(("tcp_stop_and_wait_mobile", "tcp_stop_and_wait_reordering"), "ACKED"),
    **dict.fromkeys(("shared_stop_and_wait", "shared_stop_and_wait_aqm_delays"), "FINISHED"),
    "wifi_stop_and_wait": "SOURCE_DONE",
    "manet_stop_and_wait": "FINISHED",
}
"""Models with an outcome that counts acknowledged data."""


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a copy of the package with the transport."""
    files = {
        f"kernels/{NAME}/{module}": (TOY / module).read_text()
        for module in ("__init__.py", "association.py", "endpoint.py")
    }
    files[f"transport/{NAME}.py"] = (TOY / "record.py").read_text()
    files = {
        name: text.replace("tests.toy_transport", f"netcarlo.kernels.{NAME}") for name, text in files.items()
    }
    return build(tmp_path_factory.mktemp("package"), files=files, lines=LINES)


@pytest.fixture(scope="module")
def found(package: Path) -> Any:
    """Return the outcomes of the models and their differences from the twin."""
    return json.loads(run_python(package, str(TOY / "ask.py"), str(ROOT), *MODELS))


@pytest.mark.parametrize("name", MODELS)
def test_it_equals_its_twin(found: Any, name: str) -> None:
    assert not found[name]["differing"], "\n\n".join(found[name]["differing"])
    for outcome in ("SENT", "DELIVERED", "RETRANSMITTED", "TIMEOUTS", MODELS[name]):
        assert found[name]["largest"][outcome] > 0, outcome


@pytest.mark.full
def test_scenarios_have_it_in_every_network(package: Path) -> None:
    assert all(means["goodput_bps"] > 0 for means in answers(package, *over(NAME)))
