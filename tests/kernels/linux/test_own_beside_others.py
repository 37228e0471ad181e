"""User congestion control on today's Linux, with classes and beside other senders, against twins."""

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from netcarlo.errors import InputError
from netcarlo.kernels import models
from netcarlo.kernels.base.address import Address
from netcarlo.kernels.congestion import user
from netcarlo.kernels.senders import LINUX_OWN, LINUX_RENO
from netcarlo.kernels.shared.layout import Flow
from netcarlo.kernels.wireless.layout import Flow as WifiFlow
from netcarlo.scenario import load_scenario
from netcarlo.simulation.launches import model_of
from netcarlo.simulation.simulate import simulate
from tests.kernels.beside_twin import run_as_python
from tests.kernels.linux.test_own import CONSTANTS, EXAMPLES, PACED, with_constants
from tests.kernels.shared.test_delays import differences as shared_differences
from tests.kernels.wireless.test_wireless import differences as wireless_differences
from tests.kernels.wireless.test_wireless import scenarios as wireless_scenarios
from tests.twins import run as twins
from tests.twins.linux.own import OwnSender
from tests.twins.rows import rows_of

pytestmark = pytest.mark.filterwarnings("ignore:overflow")  # NumPy warns of the overflows in Philox


@pytest.fixture(autouse=True)
def twin_knows_the_control(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the twin run the same file with the same constants."""
    monkeypatch.setattr(OwnSender, "module", user.load(PACED, PACED.read_bytes(), paced=True), raising=False)
    monkeypatch.setattr(OwnSender, "constants", np.array(CONSTANTS), raising=False)


def named(monkeypatch: pytest.MonkeyPatch, name: str, address: Address) -> str:
    """Register a model with the user's control under a name."""
    monkeypatch.setitem(models.MODELS, name, models.user_model(PACED, PACED.read_bytes(), address))
    return name


@pytest.mark.full
@pytest.mark.parametrize("delays", [False, True])
def test_over_shared_links(delays: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Test all kinds of senders; every second flow of today's Linux uses the user's control."""
    name = "shared_mixed_linux" + ("_delays" if delays else "")
    rows: Any = rows_of(name, 12, seed=32 + delays)
    kinds = rows.flows[:, :, Flow.KIND]
    kinds[:, ::2][kinds[:, ::2] >= LINUX_RENO] = LINUX_OWN
    rows = with_constants(rows)
    assert (kinds == LINUX_OWN).sum() > 5 and ((kinds > 0) & (kinds < LINUX_OWN)).sum() > 5
    own = named(monkeypatch, f"{name}_own", Address("shared", "mixed", "linux", delays=delays))
    out = run_as_python(own, rows)
    assert not (found := shared_differences(rows, out)), "\n\n".join(found)


@pytest.mark.full
def test_over_802_11(monkeypatch: pytest.MonkeyPatch) -> None:
    rows: Any = wireless_scenarios("wifi_mixed_linux", 12, seed=61)
    count, width = rows.most_flows, len(WifiFlow)
    flows = rows.network[:, : count * width].reshape(len(rows.network), count, width)
    kinds = flows[:, :, WifiFlow.KIND]
    kinds[:, ::2][kinds[:, ::2] >= LINUX_RENO] = LINUX_OWN
    rows = with_constants(rows)
    assert (kinds == LINUX_OWN).sum() > 3
    own = named(monkeypatch, "wifi_mixed_linux_own", Address("wireless", "mixed", "linux"))
    out = run_as_python(own, rows)
    assert not (found := wireless_differences("wifi_mixed_linux", rows, out)), "\n\n".join(found)


@pytest.mark.full
def test_over_a_path_with_a_class(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = with_constants(rows_of("tcp_linux_cubic_delays", 20, seed=44))
    name = named(monkeypatch, "tcp_linux_own_delays", Address("path", "linux", delays=True))
    out = run_as_python(name, rows)
    for row in range(len(out)):
        assert (out[row] == twins.simulate(name, rows, row=row)).all(), row


PAIR = """\
duration: 4 s
replications: 2
transport: {protocol: linux, congestion_control: paced_aimd.py}
shared:
  dumbbell: {rate: 10 Mbit/s, delay: 20 ms, queue: 30}
  flows: [{class: mine}, {class: other, congestion_control: cubic}, {protocol: newreno}]
"""


@pytest.mark.full
def test_a_scenario_of_three_senders_names_each(tmp_path: Path) -> None:
    """Test the standard experiment: a user's control beside CUBIC and NewReno on one link."""
    shutil.copy(PACED, tmp_path)
    file = tmp_path / "pair.yaml"
    file.write_text(PAIR)
    loaded = load_scenario(file)
    assert model_of(loaded).address == Address("shared", "mixed", "linux", delays=True)
    assert model_of(loaded).file is not None
    alone = loaded.with_values({"shared.flows": [{}, {"udp": {"rate": "1 Mbit/s"}}]})
    assert model_of(alone).address == Address("shared", "linux", str(tmp_path / "paced_aimd.py"))._replace(
        control=model_of(alone).address.control
    )
    frame = simulate(alone).frame
    assert (frame.linux_own_bps > 1e6).all() and frame.linux_cubic_bps.isna().all()


def test_what_cannot_be_mixed_is_refused(tmp_path: Path) -> None:
    """Test a control without a rate: it needs an ns-2 sender, which cannot be mixed with user controls."""
    shutil.copy(EXAMPLES / "aimd.py", tmp_path)
    file = tmp_path / "pair.yaml"
    file.write_text(PAIR.replace("paced_aimd.py", "aimd.py"))
    with pytest.raises(InputError, match="returns no rate, at which linux would pace"):
        model_of(load_scenario(file))
