"""A fifth kind of network, added by two folders and a line in each of two registries."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from netcarlo.kernels.base.loss import thresholds
from tests.package_copy import build, run_python
from tests.twins.random_numbers import Streams

TOY = Path(__file__).with_name("toy")
LINES = {
    "networks/registry.py": {
        "from netcarlo.networks.run import Run": "from netcarlo.networks.toy.network import ToyNetwork",
        "    shared: SharedNetwork | None = None": "    toy: ToyNetwork | None = None",
    },
    "kernels/space.py": {
        '    "adhoc": Network((*EVERYWHERE, *NOTIFIED, "udp"), ("delays",), unlisted=("large",)),':
            '    "toy": Network(("udp",), ()),',
    },
}
"""Added lines, by the line that each follows."""

SEED, REPLICATIONS, INTERVAL, END, STREAM = 5, 4, 8_000_000, 1_000_000_000, 1 << 20
SCENARIO = {
    "duration": "1 s", "seed": SEED, "replications": REPLICATIONS, "toy": {"delay": "100 ms", "loss": "10 %"},
    "transport": {"protocol": "udp", "rate": "1 Mbit/s", "payload": "1000 B"},
}  # fmt: skip
LOSSES = (0.1, 0.3)


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> Any:
    files = {}
    for folder, modules in (("networks/toy", ["network.py"]), ("kernels/toy", ["engine.py", "model.py"])):
        for name in ("__init__.py", *modules):
            files[f"{folder}/{name}"] = (TOY / name).read_text()
    package = build(tmp_path_factory.mktemp("package"), files=files, lines=LINES)
    asked = json.dumps({"scenario": SCENARIO, "axes": {"toy.loss": [f"{100 * loss} %" for loss in LOSSES]}})
    return json.loads(run_python(package, str(TOY / "ask.py"), asked))


def twin(replication: int, loss: float) -> list[int]:
    """Return status, sent, arrived and lost, one datagram at a time."""
    gaps = Streams(SEED, 0, replication).gaps(STREAM, thresholds(loss)[0].tolist())
    left, sent, arrived, lost = next(gaps), 0, 0, 0
    for now in range(0, END, INTERVAL):
        sent += 1
        if left == 0:
            lost, left = lost + 1, next(gaps)
        else:
            left -= 1
            arrived += now + 100_000_000 <= END
    return [0, sent, arrived, lost]


@pytest.mark.full
def test_it_is_simulated_as_by_its_twin(answers: Any) -> None:
    assert answers["integers"] == [twin(k, 0.1) for k in range(REPLICATIONS)]


@pytest.mark.full
def test_it_is_estimated_and_swept(answers: Any) -> None:
    runs = np.array(answers["integers"])
    assert answers["luck"] == pytest.approx((1 - runs[:, 3] / runs[:, 1]).mean())
    swept, drawn = answers["cells"]
    wanted = [np.mean([twin(k, loss)[2] for k in range(REPLICATIONS)]) for loss in LOSSES]
    assert swept["received"] == pytest.approx(wanted)
    assert swept["path_loss"] == pytest.approx(LOSSES)
    assert drawn["status"] == ["ok"] * 4 and len(set(drawn["toy.loss"])) == 4


@pytest.mark.full
def test_it_says_what_it_has_and_what_not(answers: Any) -> None:
    assert {"goodput_bps", "sent", "received", "drops_random", "luck"} == set(answers["measured"])
    assert answers["formula"] == [pytest.approx(0.9)]
    no_trace, no_tcp = answers["refused"]
    assert no_trace.startswith("traces of toy networks are not supported; supported: packets over paths")
    assert "'newreno' is not supported; supported with toy: udp" in no_tcp
    assert answers["name"] == "toy delay"
