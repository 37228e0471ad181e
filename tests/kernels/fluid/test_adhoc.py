"""Fluid model of ad hoc networks: conservation, known results, and comparison with the packet model."""

from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from netcarlo.kernels import models
from netcarlo.kernels.adhoc.layout import ManetOut, ManetRows
from netcarlo.kernels.base.layout import NEVER
from netcarlo.kernels.base.parameters import RowP
from netcarlo.kernels.runtime import launch
from netcarlo.scenario import Scenario
from netcarlo.simulation.ensemble import build
from netcarlo.simulation.simulate import simulate
from tests.campaigns.benchmarks.fluid_adhoc import drawn, error
from tests.kernels.beside_twin import run_as_python
from tests.twins.adhoc.scenarios import as_datagrams, as_sctp, manet_rows, select

OF_TCP = (
    "newreno", "tahoe", "vegas", "cubic", "westwood", "probing", "new_probing", "elfn", "eln", "linux26",
)  # fmt: skip
KINDS = (*OF_TCP, "sctp", "udp")
OF_THE_NETWORK = slice(ManetOut.CONNECTED, ManetOut.COLUMNS)


def run(kind: str, rows: ManetRows, **options: int) -> NDArray[np.int64]:
    return launch.run(models.model(f"fluid_manet_{kind}"), rows, **options)  # type: ignore[arg-type]


def rows_for(kind: str, count: int, *, seed: int) -> ManetRows:
    rows = manet_rows(count, seed=seed)
    change = {"udp": as_datagrams, "sctp": as_sctp}.get(kind)
    return rows if change is None else change(rows, seed=seed)


@pytest.mark.full
@settings(deadline=None, max_examples=10, suppress_health_check=[HealthCheck.too_slow])
@example(seed=99999, kind="newreno")  # a file shorter than the window in which a packet is lost
@example(seed=15838, kind="newreno")  # a link changes after the end of a file
@given(seed=st.integers(0, 1 << 30), kind=st.sampled_from(KINDS))
@pytest.mark.filterwarnings("ignore:overflow")  # NumPy warns of the overflows in Philox
def test_no_more_comes_out_than_goes_in(seed: int, kind: str) -> None:
    rows = rows_for(kind, 8, seed=seed)
    out = run_as_python(f"fluid_manet_{kind}", rows)
    sent, received, distinct = out[:, ManetOut.SENT], out[:, ManetOut.RECEIVED], out[:, ManetOut.DELIVERED]
    drops = (ManetOut.DROPS_QUEUE, ManetOut.DROPS_ROUTE, ManetOut.DROPS_BUFFER, ManetOut.DROPS_RANDOM)
    gone = sum(out[:, column] for column in drops)
    assert (distinct <= received).all() and (received + gone <= sent).all()
    assert (distinct <= rows.parameters[:, RowP.LIMIT]).all()
    done = out[:, ManetOut.COMPLETED] != NEVER
    assert (distinct == rows.parameters[:, RowP.LIMIT])[done].all()
    times = [ManetOut.FIRST_RX, ManetOut.LAST_RX, ManetOut.COMPLETED, ManetOut.FINISHED]
    assert (np.delete(out[:, : ManetOut.COLUMNS], times, 1) >= 0).all()
    assert (out[:, ManetOut.COLUMNS :] <= 0).all()  # the fluid model has no outcomes of nodes


@pytest.mark.full
def test_the_network_is_that_of_the_packets() -> None:
    """Compare motion, links and shortest paths [us] with the packet model; they do not depend on traffic."""
    rows = manet_rows(40, seed=4)
    rows.parameters[:, RowP.LIMIT] = 1 << 62
    fluid, packets = run("newreno", rows), launch.run(models.model("manet_newreno"), rows)
    assert fluid[:, ManetOut.LINK_CHANGES].sum() > 200
    assert (fluid[:, OF_THE_NETWORK] == packets[:, OF_THE_NETWORK]).all()


@pytest.mark.full
def test_rows_do_not_depend_on_their_neighbours() -> None:
    rows = manet_rows(12, seed=3)
    together = run("newreno", rows, threads=2)
    assert (run("newreno", rows, threads=1) == together).all()
    head = int(ManetOut.COLUMNS)
    assert (run("newreno", select(rows, slice(4, 6)))[:, :head] == together[4:6, :head]).all()


def chain(hops: int, **values: Any) -> Scenario:
    """Return a chain of nodes 200 m apart; each decodes its neighbours and senses two nodes on each side."""
    nodes = [[{"time": "0 s", "x": f"{200 * k} m"}] for k in range(hops + 1)]
    network = {"range": "250 m", "mobility": {"model": "given", "nodes": nodes}, "sink": hops}
    transport = {"protocol": "newreno", "payload": "1000 B", "window": 4}
    return Scenario.check({"duration": "30 s", "transport": transport, "adhoc": network}).with_values(values)


def goodput(scenario: Scenario, fidelity: str = "fluid") -> float:
    frame = simulate(scenario.with_values({"fidelity": fidelity}), replications=8, target="cpu").frame
    return float(frame["goodput_bps"].mean())


@pytest.mark.full
def test_a_lone_sender_of_datagrams_has_an_exchange_and_a_backoff_each() -> None:
    stream = {"protocol": "udp", "payload": "1000 B", "rate": "2 Mbit/s", "header": "28 B"}
    exchange_us = 352 + 304 + 304 + 3 * 10 + 192 + (1028 + 54) * 4
    every_s = (exchange_us + 50 + 20 * 31 / 2) * 1e-6
    found = goodput(chain(1, transport=stream))
    assert found == pytest.approx(8000 / every_s, rel=2e-3)


@pytest.mark.full
@pytest.mark.parametrize("hops", [1, 2, 3, 4])
@pytest.mark.parametrize("noise", ["0 %", "8 %"])
def test_static_chains_are_those_of_packets(hops: int, noise: str) -> None:
    """Test chains; with noise and three or more hops, hidden nodes make the fluid up to 1/7 too high."""
    scenario = chain(hops, **{"adhoc.frame_error": noise})
    most = 0.03 if hops < 3 else 0.15
    assert goodput(scenario) == pytest.approx(goodput(scenario, "packet"), rel=most)


@pytest.mark.full
def test_a_silence_ends_with_the_first_request_after_it() -> None:
    """Test route requests, which are sent 0, 2 and 10 s after the link breaks, and then every 10 s."""
    away = [{"time": "5 s", "x": "200 m"}, {"time": "15 s", "x": "3 km"}]
    away += [{"time": "20 s", "x": "3 km"}, {"time": "30 s", "x": "200 m"}]
    nodes = [[{"time": "0 s", "x": "0 m"}], away]
    mobility = {"model": "given", "nodes": nodes}
    scenario = chain(1, duration="60 s", **{"adhoc.mobility": mobility})
    waited = simulate(scenario.with_values({"fidelity": "fluid"}), replications=1).frame["waited_s"][0]
    there, since = 30 - 50 / 280, 5 + 50 / 280 + 0.0354  # in range up to 250 m; the MAC gives up
    first = next(since + at for at in (0, 2, 10, 20, 30, 40) if since + at >= there)
    assert waited == pytest.approx(first - since, abs=0.05)


@pytest.mark.full
def test_a_transfer_ends() -> None:
    file = chain(2, **{"transport.bytes": "500 kB"})
    cheap, exact = (
        simulate(file.with_values({"fidelity": each}), replications=4).frame for each in ("fluid", "packet")
    )
    assert cheap["transfer_s"].mean() == pytest.approx(exact["transfer_s"].mean(), rel=0.03)
    assert cheap["elapsed_s"].to_numpy() == pytest.approx(1e-9 + cheap["transfer_s"].to_numpy(), rel=1e-6)
    assert np.isnan(simulate(chain(2, fidelity="fluid"), replications=1).frame["transfer_s"][0])


@pytest.mark.full
def test_a_sender_that_keeps_its_window_has_more_of_a_lossy_network() -> None:
    values = {"adhoc.residual_error": "5 %", "transport.min_rto": "1 s", "transport.window": 20}
    found = [goodput(chain(1, **values, **{"transport.protocol": kind})) for kind in ("newreno", "probing")]
    assert found[1] > 1.02 * found[0]


@pytest.mark.full
@pytest.mark.parametrize(
    ("kind", "median", "most"), [("newreno", 0.03, 0.15), ("sctp", 0.04, 0.25), ("udp", 0.015, 0.2)]
)
@pytest.mark.parametrize("moves", [False, True])
def test_drawn_networks_are_those_of_packets(kind: str, median: float, most: float, moves: bool) -> None:
    off, _, _ = error(drawn(kind, moves=moves), 100)
    assert np.median(np.abs(off)) < median and np.quantile(np.abs(off), 0.9) < most


@pytest.mark.full
def test_residual_errors_are_those_of_the_packets() -> None:
    """Compare residual losses; the fluid has no losses where the packet model has none."""
    values = {"adhoc.residual_error": "1 %", "transport.packets": 60}
    rows = build(chain(1, **values), replications=100).rows
    fluid, packets = run("newreno", rows), launch.run(models.model("manet_newreno"), rows)
    clean = packets[:, ManetOut.DROPS_RANDOM] == 0
    assert 0.3 < clean.mean() < 0.8
    assert ((fluid[:, ManetOut.DROPS_RANDOM] == 0) == clean).mean() > 0.97


def association(window: int, **values: Any) -> Scenario:
    """Return SCTP over one hop with a receive window of `window` packets."""
    return chain(1, **{"transport": {"protocol": "sctp", "payload": "1000 B"}, **values}).with_values(
        {"transport.receiver_window": f"{1016 * window} B"}
    )


def delivered(scenario: Scenario) -> int:
    """Return the packets that the fluid delivers in one network, as plain Python."""
    rows = build(scenario.with_values({"fidelity": "fluid"}), replications=1).rows
    return int(run_as_python("fluid_manet_sctp", rows)[0, ManetOut.DELIVERED])


@pytest.mark.filterwarnings("ignore:overflow")  # NumPy warns of the overflows in Philox
def test_a_window_of_one_packet_waits_for_the_delayed_sack() -> None:
    """Test that each packet takes a round trip and 200 ms; two packets are acknowledged at once."""
    data_us, sack_us = (352 + 304 + 304 + 3 * 10 + 192 + (size + 54) * 4 for size in (1048, 48))
    trip_s = (data_us + sack_us + 2 * 50 + 31 * 20) * 1e-6
    assert delivered(association(1)) == pytest.approx(30 / (trip_s + 0.2), abs=3)
    assert delivered(association(1, **{"transport.ack_every": 1})) == pytest.approx(30 / trip_s, rel=0.01)
    assert delivered(association(2)) > 10 * delivered(association(1))


@pytest.mark.filterwarnings("ignore:overflow")
def test_an_association_whose_inits_are_not_answered_fails() -> None:
    """Test a sink that arrives after the ninth INIT, 333 s after the first one, or before it."""
    found = []
    for at in (200, 400):
        track = [{"time": "0 s", "x": "3 km"}, {"time": f"{at} s", "x": "3 km"}]
        nodes = [[{"time": "0 s", "x": "0 m"}], [*track, {"time": f"{at + 10} s", "x": "100 m"}]]
        mobility = {"adhoc.mobility": {"model": "given", "nodes": nodes}}
        found.append(delivered(association(4, duration="450 s", **mobility)))
    assert found[0] > 1000 and found[1] == 0


@pytest.mark.full
@pytest.mark.parametrize("window", [4, 10, 20])
def test_recovery_with_a_full_receive_window_is_that_of_packets(window: int) -> None:
    """Test losses with small receive windows, which buffered chunks fill; more losses deliver less."""
    found = []
    for loss, most in (("0 %", 0.01), ("1 %", 0.03), ("5 %", 0.08)):
        scenario = association(window, duration="60 s", **{"adhoc.residual_error": loss})
        found.append(goodput(scenario))
        assert found[-1] == pytest.approx(goodput(scenario, "packet"), rel=most)
    assert found[0] > found[1] > found[2]
