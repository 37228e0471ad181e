"""User congestion control with a pacing rate on today's Linux: twin, pacing, and refused senders."""

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from netcarlo.errors import InputError
from netcarlo.kernels import models
from netcarlo.kernels.adhoc.layout import ManetOut
from netcarlo.kernels.base.address import Address
from netcarlo.kernels.base.layout import EVENT_SEND, Out, Trace
from netcarlo.kernels.congestion import user
from netcarlo.kernels.runtime import launch
from netcarlo.scenario import load_scenario
from netcarlo.simulation.launches import model_of
from netcarlo.simulation.simulate import simulate
from tests.kernels.beside_twin import run_as_python
from tests.kernels.linux.test_linux import row_of
from tests.twins import run as twins
from tests.twins.adhoc.run import simulate as simulate_adhoc
from tests.twins.adhoc.scenarios import linux_manet_rows
from tests.twins.linux.own import OwnSender
from tests.twins.path.scenarios import linux_rows

EXAMPLES = Path(__file__).parents[3] / "configs" / "examples"
PACED, UNPACED = EXAMPLES / "paced_aimd.py", EXAMPLES / "aimd.py"
CONSTANTS = [1.0, 0.7, 1.2]


def own_model(path: Path = PACED) -> Any:
    return models.user_model(path, path.read_bytes(), Address("path", "linux"))


TWINS: dict[str, tuple[Any, Any]] = {
    "path": (Out, twins.simulate),
    "adhoc": (ManetOut, simulate_adhoc),
}
"""Outcome columns and twin, by the kind of network."""


def with_constants(rows: Any) -> Any:
    return rows._replace(constants=np.tile(CONSTANTS, (len(rows.parameters), 1)))


@pytest.mark.full
@pytest.mark.filterwarnings("ignore:overflow")
@pytest.mark.parametrize("family", ["path", "adhoc"])
def test_kernel_equals_twin(family: str, monkeypatch: pytest.MonkeyPatch) -> None:
    model = models.user_model(PACED, PACED.read_bytes(), Address(family, "linux"))
    name = f"{model.address.engine}_linux_own"
    monkeypatch.setitem(models.MODELS, name, model)
    monkeypatch.setattr(OwnSender, "module", user.load(PACED, PACED.read_bytes(), paced=True), raising=False)
    monkeypatch.setattr(OwnSender, "constants", np.array(CONSTANTS), raising=False)
    rows: Any = linux_rows(100, seed=11) if family == "path" else linux_manet_rows(20, seed=77)
    rows = with_constants(rows)
    out, (columns, twin) = run_as_python(name, rows), TWINS[family]
    assert out[:, columns.TIMEOUTS].sum() > 50 and out[:, columns.FAST_RETRANSMITS].sum() > 200
    for row in range(len(out)):
        assert (out[row] == twin(name, rows, row=row)).all(), row


@pytest.mark.full
@pytest.mark.usefixtures("uncompiled")
def test_packets_leave_at_the_rate_that_it_returns(tmp_path: Path) -> None:
    """Test a rate of 50 packets/s over a path of 125 packets/s, with a sufficient window."""
    own = tmp_path / "steady.py"
    own.write_text("def grow(*_):\n    return 100.0, 50.0\n\n\ndef reduce(*_):\n    return 100.0, 50.0\n")
    events, _ = launch.trace(own_model(own), row_of(), row=0)
    sends = events[events[:, Trace.EVENT] == EVENT_SEND, Trace.TIME]
    assert np.diff(sends[sends > 3]) == pytest.approx(0.02, abs=1e-4)  # single packets below 1.2 Mbit/s


@pytest.mark.full
def test_a_window_that_is_no_number_does_no_harm(tmp_path: Path) -> None:
    own = tmp_path / "wild.py"
    text = "def grow(cwnd, ssthresh, now, *_):\n    x = 1e300 if now > 2 * 10**9 else 8.0\n"
    own.write_text(text + "    return x * x, x * x - x\n\n\ndef reduce(*_):\n    return 1e-9, 1e-9\n")
    row = row_of(WINDOW=20)
    with pytest.raises(ValueError, match="not a window in packets and a rate"):
        user.load(own, own.read_bytes().replace(b"2 * 10**9", b"1"), paced=True)
    assert launch.run(own_model(own), row)[0, Out.DELIVERED] > 0


@pytest.mark.parametrize(
    ("protocol", "file", "message"),
    [
        ("linux", UNPACED, r"returns no rate, at which linux would pace; return \(window, rate\)"),
        ("newreno", PACED, "returns a rate, at which linux alone paces; write protocol: linux"),
        ("linux26", PACED, "returns a rate, at which linux alone paces; write protocol: linux"),
    ],
)
def test_a_rate_is_for_the_sender_that_paces(protocol: str, file: Path, message: str, tmp_path: Path) -> None:
    for name in ("aimd.py", "paced_aimd.py", "paced_aimd.yaml"):
        shutil.copy(EXAMPLES / name, tmp_path)
    values = {"transport.protocol": protocol, "transport.congestion_control": file.name}
    if file == UNPACED:
        values["transport.constants"] = {}
    with pytest.raises(InputError, match=message):
        model_of(load_scenario(tmp_path / "paced_aimd.yaml", values=values))


@pytest.mark.full
def test_the_example_goes_over_paths_and_shared_links(tmp_path: Path) -> None:
    """Compare goodput through a queue of 20 packets with that at fifty times the pacing rate."""
    scenario = load_scenario(EXAMPLES / "paced_aimd.yaml", values={"replications": 12, "hops.0.loss": 0})
    burst = scenario.with_values({"transport.constants": {"surplus": 50}})
    paced, at_once = (float(simulate(s).frame.goodput_bps.mean()) for s in (scenario, burst))
    assert 50e6 > paced > max(at_once, 42e6)
    shared = {"dumbbell": {"rate": "50 Mbit/s", "delay": "20 ms", "queue": 20}, "flows": [{}, {}]}
    data = scenario.model_dump(mode="json", exclude_none=True)
    del data["paths"]
    pair = type(scenario).check({**data, "shared": shared, "replications": 2})
    assert model_of(pair).address.family == "shared"
    assert (simulate(pair).frame.tcp_goodput_bps > 10e6).all()


@pytest.mark.parametrize(("protocol", "file"), [("sack", UNPACED), ("linux", PACED)])
def test_beside_other_tcps_it_is_one_of_linux(protocol: str, file: Path, tmp_path: Path) -> None:
    shutil.copy(file, tmp_path)
    (tmp_path / "pair.yaml").write_text(
        f"duration: 2 s\ntransport: {{protocol: {protocol}, congestion_control: {file.name}}}\nshared:\n"
        "  dumbbell: {rate: 20 Mbit/s, delay: 10 ms, queue: 50}\n"
        "  flows: [{}, {protocol: linux, congestion_control: cubic}]\n"
    )
    if protocol == "linux":
        assert model_of(load_scenario(tmp_path / "pair.yaml")).address.sender == "mixed"
    else:
        remedy = "for your own congestion control write protocol: linux, and return a window and a rate"
        with pytest.raises(InputError, match=remedy):
            load_scenario(tmp_path / "pair.yaml")


def test_all_ways_of_naming_a_control_of_linux(tmp_path: Path) -> None:
    shutil.copy(EXAMPLES / "paced_aimd.yaml", tmp_path)
    for control in ("reno", "cubic", "bbr"):
        values = {"transport.congestion_control": control, "transport.constants": {}}
        found = load_scenario(tmp_path / "paced_aimd.yaml", values=values)
        assert model_of(found).name == f"tcp_linux_{control}"
    with pytest.raises(InputError, match="write cubic, reno, bbr"):
        load_scenario(tmp_path / "paced_aimd.yaml", values={"transport.congestion_control": "vegas"})
