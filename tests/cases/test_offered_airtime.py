"""Notes on sources that offer more than the airtime of an 802.11 network allows."""

from typing import Any

import pytest

from netcarlo.scenario import Scenario
from netcarlo.simulation import cautions
from netcarlo.simulation.simulate import simulate

DIFS_US, SIFS_US, PREAMBLE_US = 28, 10, 26  # 802.11g; the preamble with the signal extension
ACK_US = PREAMBLE_US + 4 * 2  # 16 + 6 + 14 x 8 bits at 24 Mbit/s, 96 bits a symbol


def exchange_us(payload: int) -> int:
    """Return the airtime of a datagram at 54 Mbit/s [us]: 216 bits a symbol, 28 bytes of UDP/IP, 36 of
    LLC and MAC."""
    symbols = -(-(22 + 8 * (payload + 28 + 36)) // 216)
    return DIFS_US + PREAMBLE_US + 4 * symbols + SIFS_US + ACK_US


def cell(stations: int, rate: str, **more: Any) -> Scenario:
    udp = {"protocol": "udp", "rate": rate, "payload": "1000 B"}
    radio = {"standard": "802.11g", "cell": {"stations": stations}, "rate": "54 Mbit/s", **more}
    return Scenario.check({"duration": "3 s", "replications": 2, "transport": udp, "wireless": radio})


@pytest.mark.parametrize("stations", [1, 3])
def test_the_capacity_of_a_cell_is_one_exchange_after_the_other(stations: int) -> None:
    found = cautions.overload(cell(stations, "100 Mbit/s"))
    assert found is not None
    assert found.capacity_bps == pytest.approx(8e6 * 1028 / exchange_us(1000))
    assert found.offered_bps == pytest.approx(stations * 100e6 * 1028 / 1000, rel=1e-6)
    assert "802.11" in found.sentence


def test_whatever_is_above_the_capacity_loses_packets() -> None:
    most = 8e6 * 1000 / exchange_us(1000)
    for stations, load in ((1, 0.98), (4, 0.98), (1, 1.02), (4, 1.02)):
        asked = cell(stations, f"{load * most / stations:.0f} bit/s")
        assert (cautions.overload(asked) is not None) == (load > 1)
        if load > 1:
            assert (simulate(asked, target="cpu").frame.loss_ratio > 0.02).all()


def test_a_chain_of_hidden_nodes_is_bounded_by_its_busiest_node() -> None:
    """The relay is the busiest node of a chain of 3 hops whose ends do not sense each other."""
    udp = {"protocol": "udp", "rate": "100 Mbit/s", "payload": "1000 B"}
    radio = {"standard": "802.11g", "chain": {"hops": 3}, "rate": "54 Mbit/s"}
    for reach, share, name in ((None, 3, "channel"), (1, 2, "node 1")):
        given = radio | ({} if reach is None else {"reach": {"sense": reach}})
        found = cautions.overload(Scenario.check({"duration": "1 s", "transport": udp, "wireless": given}))
        assert found is not None and name in found.link
        assert found.offered_bps / found.capacity_bps == pytest.approx(
            share * 1e8 * exchange_us(1000) / 8e9, rel=1e-6
        )


def test_a_load_that_ends_or_adapts_is_no_overload() -> None:
    flows = [{"each": {"udp": {"rate": "60 Mbit/s", "packets": 100}}, "count": 2}]
    radio = {"standard": "802.11g", "cell": {"stations": 2}, "rate": "54 Mbit/s"}
    for network in ({**radio, "flows": flows}, radio):
        transport = {"protocol": "sack"}
        asked = Scenario.check({"duration": "1 s", "transport": transport, "wireless": network})
        assert cautions.overload(asked) is None


@pytest.mark.usefixtures("uncompiled")
def test_the_capacity_of_edca_is_that_of_full_opportunities() -> None:
    def cell(rate: float) -> Scenario:
        udp = {"protocol": "udp", "rate": f"{rate:.0f} bit/s", "payload": "1200 B"}
        flow = {"source": "gateway", "sink": "station", "access": "video"}
        radio = {"standard": "802.11ax", "channel": "20 MHz", "cell": {"stations": 2}, "mcs": 1}
        radio |= {"flows": [{"each": flow}]}
        run = {"duration": "300 ms", "warm_up": "100 ms", "replications": 1}
        return Scenario.check({**run, "transport": udp, "wireless": radio})

    found = cautions.overload(cell(1e9))
    assert found is not None and found.link == "the access point of the 802.11 network"
    most = found.capacity_bps * 1200 / 1228
    for load in (0.94, 1.02):
        asked = cell(load * most / 2)
        goodput = simulate(asked, target="cpu").frame.goodput_bps[0]
        assert (cautions.overload(asked) is not None) == (load > 1)
        assert goodput == pytest.approx(min(load, 0.985) * most, rel=0.015)
