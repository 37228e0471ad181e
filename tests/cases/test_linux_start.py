"""Connection setup of `protocol: linux` after lost SYNs and SYN-ACKs, in every network that supports it.

Times are those of Linux 6.18.44 over the same link (`tests/campaigns/verification/kernel`).
"""

from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import yaml

from netcarlo.kernels.base.layout import FOREVER, Out
from netcarlo.kernels.linux import receiver, reno, sender, state
from netcarlo.kernels.linux.state import FIRST, NONE, SYN, Tcp
from netcarlo.scenario import Scenario
from netcarlo.simulation.ensemble import build
from netcarlo.simulation.outcomes import outcomes
from tests.kernels.adhoc import test_adhoc as adhoc
from tests.kernels.beside_twin import run_as_python
from tests.kernels.linux.test_linux import scratch
from tests.kernels.shared import test_shared as shared
from tests.kernels.wireless import test_wireless as wireless
from tests.tiers import parameters
from tests.twins.path.scenarios import MS, SECOND
from tests.twins.run import simulate

CASE = Path(__file__).with_name("linux_syn_lost_twice.yaml")
pytestmark = pytest.mark.filterwarnings("ignore:overflow")


def run(scenario: Scenario, replications: int) -> tuple[str, Any, Any, pd.DataFrame]:
    """Return the address of the model, its rows, their integers, and named outcomes, uncompiled."""
    built = build(scenario, replications=replications)
    name = scenario.network.address(scenario, fluid=False).name
    out = run_as_python(name, built.rows)
    return name, built.rows, out, outcomes(scenario.network, out, built.rows, built.drawn).frame


def of_case(**changes: Any) -> Scenario:
    """Return the scenario of the case with another congestion control, or with a longer outage."""
    fields = yaml.safe_load(CASE.read_text())
    fields["transport"]["congestion_control"] = changes.get("control", "cubic")
    fields["hops"][0]["outages"][0]["duration"] = changes.get("outage", "1.5 s")
    return Scenario.check(fields)


@pytest.mark.full
@pytest.mark.parametrize(
    ("control", "ten_packets_s", "one_packet_s"),
    [("reno", 0.354, 0.655), ("cubic", 0.354, 0.655), ("bbr", 0.409, 0.629)],
)
def test_a_transfer_takes_as_long_as_in_the_kernel(
    control: str, ten_packets_s: float, one_packet_s: float
) -> None:
    for outage, syns, expected in (
        ("0 s", 1, ten_packets_s), ("0.5 s", 2, ten_packets_s),
        ("1.5 s", 3, one_packet_s), ("2.5 s", 4, one_packet_s),
    ):  # fmt: skip
        frame = run(of_case(control=control, outage=outage), 1)[3]
        assert frame.handshakes.item() == syns
        took = frame.completion_s.item() - frame.first_delivery_s.item() + 0.05
        assert took == pytest.approx(expected, abs=0.002), outage


@pytest.mark.full
def test_bbr3_paces_the_window_of_one_packet() -> None:
    took = {}
    for outage in ("0.5 s", "1.5 s"):
        frame = run(of_case(control="bbr3", outage=outage), 1)[3]
        took[outage] = frame.completion_s.item() - frame.first_delivery_s.item()
    assert took["1.5 s"] > took["0.5 s"] + 0.2  # two more round trips and part of a third


@pytest.mark.parametrize("control", parameters(["reno", "cubic", "bbr", "bbr3"], full=("reno", "bbr3")))
def test_lossy_handshakes_equal_their_twin(control: str) -> None:
    """Handshakes equal their twin when SYNs, SYN-ACKs and third packets are lost in outages and at
    random."""
    hop = {"rate": "5 Mbit/s", "delay": "20 ms", "queue": 30, "loss": 0.25, "ack_loss": 0.3}
    hop["outages"] = [{"start": "0 s", "duration": {"uniform": ["0 s", "3 s"]}}]
    transport = {"protocol": "linux", "congestion_control": control, "packets": 12}
    scenario = Scenario.check({"duration": "30 s", "transport": transport, "hops": [hop]})
    name, rows, out, _ = run(scenario, 20)
    assert ((out[:, Out.HANDSHAKES] > 2) & (out[:, Out.SENT] > 0)).sum() > 5
    assert all((out[row] == simulate(name, rows, row=row)).all() for row in range(len(out)))


LINK = {"rate": "8 Mbit/s", "delay": "15 ms", "queue": 50}


def down(duration: str) -> list[dict[str, str]]:
    """Return an outage from the start."""
    return [{"start": "0 s", "duration": duration}]


def over_links(outage: str) -> dict[str, Any]:
    """Return a flow over a cable that comes up after the first SYNs."""
    links = [{"ends": [0, 1], **LINK}, {"ends": [1, 0], **LINK}]
    failures = [{"cables": 0, "outages": down(outage)}]
    return {"shared": {"links": links, "failures": failures, "flows": [{"source": 0, "sink": 1}]}}


def over_wireless(outage: str) -> dict[str, Any]:
    """Return a station whose cell comes up after the first SYNs."""
    return {"wireless": {
        "standard": "802.11g", "cell": {"stations": 1}, "rate": "54 Mbit/s", "outages": down(outage)
    }}  # fmt: skip


PAIR = {
    "nodes": 2, "area": {"side": "100 m"}, "range": "200 m", "mobility": {"model": "static"},
    "routing": "ideal", "frame_error": 0.8,
}  # fmt: skip
ARRIVALS = {
    "dumbbell": {**LINK, "loss": 0.4},
    "flows": [{"count": 4, "arrivals": {"poisson": "2 /s"}, "size": "30 kB"}],
}


@pytest.mark.full
@pytest.mark.parametrize(
    "network", [over_links("1.5 s"), {"shared": ARRIVALS}, over_wireless("1.5 s"), {"adhoc": PAIR}]
)
@pytest.mark.parametrize("control", ["cubic", "bbr"])
def test_every_engine_equals_its_twin_after_lost_syns(network: dict[str, Any], control: str) -> None:
    transport = {"protocol": "linux", "congestion_control": control, "packets": 20}
    if network == {"shared": ARRIVALS}:
        del transport["packets"]
    scenario = Scenario.check({"duration": "12 s", "transport": transport, **network})
    name, rows, out, _ = run(scenario, 2)
    if name.startswith("shared"):
        found = shared.differences(rows, out)
    else:
        found = (wireless if name.startswith("wifi") else adhoc).differences(name, rows, out)
    assert not found, "\n\n".join(found)


def test_shared_links_begin_with_one_packet() -> None:
    """One packet is alone for a round trip after two lost SYNs.

    This is not tested over 802.11, where airtime and not the round trip decides how long 20 packets take.
    """
    transport = {"protocol": "linux", "congestion_control": "reno", "packets": 20}
    took = []
    for outage, syn_s in (("0.5 s", 1.0), ("1.5 s", 2.0)):
        scenario = Scenario.check({"duration": "12 s", "transport": transport, **over_links(outage)})
        took.append(run(scenario, 1)[3].completion_s.item() - syn_s)
    assert took[1] > took[0] * 1.5


# The mechanisms, one by one.


def connect(syns: int, echo: int) -> Any:
    """Return a sender that has sent `syns` SYNs 1 s apart and receives a SYN-ACK with this timestamp
    [ns]."""
    p, s = scratch()
    g = s[:0]
    free = sender.prepare(p, s, g, 100, 0, 0, state.END)
    assert free < len(s)
    sender.start(p, s, g, 0)
    for k in range(syns):
        if k > 0:
            sender.on_timeout(p, s, g, g, k * SECOND)
        assert sender.next_segment(p, s, g, k * SECOND, False) == SYN
    at = state.ack_at(p, s, 0)
    receiver.write_ack(s, at, FIRST, echo)
    sender.on_ack(p, s, g, g, (syns - 1) * SECOND + 40 * MS, 0)
    return s


@pytest.fixture
def unpaced_reno(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fill the slots of `sender` for functions that are called without a model."""
    monkeypatch.setattr(sender, "control", reno)
    for module in (sender, state):
        monkeypatch.setattr(module, "PACED", False)


mechanism = pytest.mark.usefixtures("unpaced_reno")


@mechanism
def test_one_packet_from_the_second_lost_syn_on() -> None:
    windows = [connect(syns, (syns - 1) * SECOND)[Tcp.CWND] for syns in (1, 2, 3, 4)]
    assert windows == [10, 10, 1, 1]


@mechanism
def test_an_echo_of_the_first_syn_shows_that_none_was_lost() -> None:
    """The window is not reduced if only SYN-ACKs were lost, or the round trip is longer than the timer."""
    s = connect(4, 0)
    assert s[Tcp.CWND] == 10 and s[Tcp.UNDO_MARKER] == NONE
    assert s[Tcp.SRTT_US] >> 3 == 3_040_000  # the timestamp yields this RTT sample


@mechanism
def test_the_threshold_is_infinite_after_lost_syns() -> None:
    assert connect(4, 3 * SECOND)[Tcp.SSTHRESH] == state.INFINITE


@mechanism
def test_another_syn_ack_is_no_acknowledgement_of_data() -> None:
    p, s = scratch()
    at = state.ack_at(p, s, 0)
    receiver.write_ack(s, at, FIRST, 0)
    assert sender._is_syn_ack(s, at)
    s[at + state.Ack.DSACK] = FIRST
    assert not sender._is_syn_ack(s, at)


def closed() -> tuple[Any, Any]:
    """Return a receiver that waits for a SYN, and begins with quick ACKs."""
    p, s = scratch()
    s[Tcp.QUICK_ACKS] = receiver.INITIAL_QUICK_ACKS
    s[Tcp.RCV_NXT] = s[Tcp.RCV_WUP] = 0
    return p, s


def test_a_syn_ack_echoes_the_first_syn_that_arrived() -> None:
    """A retransmitted SYN does not renew the echoed timestamp, as in the kernel."""
    p, s = closed()
    for t in (0, SECOND):
        receiver.note_timestamp(s, SYN, t + MS)
        ack, _ = receiver.on_data(p, s, t + 20 * MS, SYN, False)
        assert s[state.ack_at(p, s, ack) + state.Ack.TSECR] == MS


def test_a_syn_ack_is_sent_again_after_a_second_then_two_until_the_handshake_ends() -> None:
    p, s = closed()
    t = 20 * MS
    receiver.on_data(p, s, t, SYN, False)
    for wait in (1, 2, 4, 8, 16):
        due = receiver.due_at_receiver(s)
        assert wait * SECOND <= due - t <= wait * SECOND * 1.13  # the wheel is late by up to an eighth
        assert receiver.on_delay(p, s) >= 0
        t = due
    assert receiver.due_at_receiver(s) == FOREVER
    p, s = closed()
    receiver.on_data(p, s, t, SYN, False)
    receiver.on_data(p, s, t + 40 * MS, FIRST, False)  # the third packet is lost, data complete the handshake
    assert s[Tcp.RCV_RTT] == 40 * MS and receiver.due_at_receiver(s) == FOREVER
