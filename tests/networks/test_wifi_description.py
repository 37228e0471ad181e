"""Fields of 802.11n, ac, ax and be."""

from typing import Any

import numpy as np
import pytest

from netcarlo.errors import InputError
from netcarlo.kernels.wireless.layout import Agreement, Function, Radio, Rate
from netcarlo.networks.wireless.description import Wireless
from netcarlo.networks.wireless.phy.ppdu import Mode, ppdu
from netcarlo.scenario import Scenario
from netcarlo.simulation.ensemble import build_rows


def cell(**fields: Any) -> Wireless:
    return Wireless.check({"cell": {"stations": 3}, **fields})


def faults(**fields: Any) -> list[str]:
    with pytest.raises(InputError) as caught:
        cell(**fields)
    return list(caught.value.lines)


@pytest.mark.parametrize(
    ("fields", "mode", "sifs_us"),
    [
        ({"standard": "802.11n"}, Mode("802.11n", 20, 1, 7, 800), 16),
        ({"standard": "802.11n", "band": "2.4 GHz", "guard": "400 ns"}, Mode("802.11n", 20, 1, 7, 400), 10),
        ({"standard": "802.11ac", "streams": 3}, Mode("802.11ac", 80, 3, 9, 800), 16),
        ({"standard": "802.11ac", "channel": "20 MHz"}, Mode("802.11ac", 20, 1, 8, 800), 16),  # no MCS 9
        ({"standard": "802.11ax", "band": "2.4 GHz", "mcs": 3}, Mode("802.11ax", 20, 1, 3, 800), 10),
        ({"standard": "802.11be", "band": "6 GHz"}, Mode("802.11be", 160, 1, 13, 800), 16),
    ],
)
def test_defaults_are_those_of_standard_and_band(fields: Any, mode: Mode, sifs_us: int) -> None:
    found = cell(**fields)
    assert found.first_rates == [pytest.approx(1e6 * ppdu(mode, found.band_used).rate_mbps)]
    assert (found.sifs, found.slot) == (pytest.approx(sifs_us * 1e-6), pytest.approx(9e-6))
    assert (found.mac_overhead, found.queue) == (38, 500)


def test_fields_of_older_standards_are_unchanged() -> None:
    assert (cell().mac_overhead, cell().queue, cell().rate, cell().first_rates) == (36, 50, 54e6, [54e6])
    written = cell().model_dump(mode="json", exclude_none=True)
    assert not {"band", "mcs", "edca", "aggregation", "behaviour"} & set(written)


def test_the_rate_table_has_all_modes_of_the_links() -> None:
    found = cell(
        standard="802.11ac", channel="20 MHz", streams={"choice": [1, 3]}, each=[{"streams": 2, "mcs": 8}]
    )
    rates = found.rate_table()
    assert [(mode.streams, mode.mcs) for mode in found.modes if mode.mcs > 7] == [
        (1, 8),
        (2, 8),
        (3, 8),
        (3, 9),
    ]
    assert len(rates) == len(found.known_rates) == 3 + 9 + 9 + 10
    row = rates[found.mode_row(2, 8)]
    assert found.known_rates[found.mode_row(2, 8)] == pytest.approx(156e6)
    assert row[Rate.SIXTH_BITS] == 6 * 624
    assert np.all(rates[3:, Rate.DELIMITED] == 1)


def test_random_modes() -> None:
    found = cell(standard="802.11n", mcs={"integers": [0, 2]}, each=[{"mcs": {"choice": [7, 5]}}, {}, {}])
    all_links, first = found.first_rates
    assert all_links.values == pytest.approx((6.5e6, 13e6, 19.5e6))  # type: ignore[union-attr]
    assert first.values == pytest.approx((52e6, 65e6))  # type: ignore[union-attr]


def test_a_scheduler_is_one_of_three_and_of_new_standards() -> None:
    assert cell(standard="802.11ax", scheduler="airtime").scheduler == "airtime"
    assert "scheduler" in faults(standard="802.11ax", scheduler="drr")[0]
    (line,) = faults(standard="802.11g", scheduler="airtime")
    assert line == "scheduler has no meaning with 802.11g; remove it, or write standard: 802.11ax"


def test_fair_queues_have_the_numbers_of_linux() -> None:
    flows = [{"source": "gateway", "sink": 0}, {"source": "gateway", "sink": 1}, {"source": 2}]
    asked = {
        "standard": "802.11n", "channel": "20 MHz", "each": [{}, {"mcs": 0}, {}], "flows": flows,
        "cell": {"stations": 3}, "fq_codel": {},
    }  # fmt: skip
    p, of = rows_of(asked)
    assert [p[column] for column in (Radio.FQ_QUANTUM, Radio.AQL_LOW, Radio.AQL_HIGH, Radio.AQL_TOTAL)] == [
        300, 5_000_000, 12_000_000, 24_000_000,
    ]  # fmt: skip
    assert of(Function, Radio.FUNCTIONS_AT, 2)[:, Function.FQ].tolist() == [0, 1]
    assert of(Function, Radio.FUNCTIONS_AT, 2)[1, Function.QUEUE] == 8192
    delays = of(Agreement, Radio.AGREEMENTS_AT, 3)[1:, [Agreement.TARGET, Agreement.INTERVAL]]
    assert delays.tolist() == [[20_000_000, 100_000_000], [50_000_000, 300_000_000]]


def rows_of(wireless: dict[str, Any]) -> tuple[Any, Any]:
    """Return the parameters of a row, and a function that returns a table of it."""
    udp = {"protocol": "udp", "rate": "1 Mbit/s"}
    asked = Scenario.check({"duration": "1 s", "transport": udp, "wireless": wireless})
    rows = build_rows(asked, replications=np.arange(1)).rows
    p, network = rows.parameters[0], rows.network[0]

    def table(columns: Any, at: Radio, count: int) -> Any:
        return network[p[at] :][: count * len(columns)].reshape(count, len(columns))

    return p, table


def test_features_that_are_not_modelled_are_refused_by_name() -> None:
    assert faults(standard="802.11ax", ofdma="downlink", mu_mimo=True) == [
        "ofdma is not supported: OFDMA is not modelled; remove it",
        "mu_mimo is not supported: MU-MIMO is not modelled; remove it",
    ]


def test_fair_queues_are_of_new_standards() -> None:
    (line,) = faults(standard="802.11g", fq_codel={})
    assert line.startswith("fq_codel has no meaning with 802.11g; remove it")
    assert "fq_codel.nodes" in faults(standard="802.11ax", fq_codel={"nodes": "stations"})[0]


def test_all_fields_without_a_meaning_are_refused_at_once() -> None:
    old = {"cw_min": 31, "rate": "54 Mbit/s", "burst": 4, "protection": "1 Mbit/s",
           "preamble": "short", "long_retry": 4, "survival": "1 ms"}  # fmt: skip
    lines = faults(standard="802.11ax", each={"rate": "6 Mbit/s"}, **old)
    assert len(lines) == len(old) + 1
    assert all("has no meaning with 802.11ax; " in line for line in lines)
    assert any(line.endswith("write edca: {best_effort: {cw_min: 15}}") for line in lines)
    new = {
        "band": "5 GHz",
        "mcs": 3,
        "aggregation": {},
        "edca": {},
        "behaviour": "ns3",
        "block_ack_request": True,
    }
    lines = faults(each=[{"mcs": 2}], flows=[{"access": "voice"}, {"saturated": True}], **new)
    assert len(lines) == len(new) + 3
    assert all(
        line.endswith("has no meaning with 802.11g; remove it, or write standard: 802.11ax") for line in lines
    )
    assert lines[-2:] == [line.replace("band", name) for name in ("flows.0.access", "flows.1.saturated")
                          for line in lines[:1]]  # fmt: skip


@pytest.mark.parametrize(
    ("fields", "texts"),
    [
        (
            {"standard": "802.11ac", "band": "2.4 GHz", "mcs": 10},
            ["band = 2.4 GHz is no band", "mcs = 10 is out"],
        ),
        ({"standard": "802.11n", "mcs": 15}, ["MCS 15 of 802.11n is mcs: 7, streams: 2"]),
        ({"standard": "802.11ac", "channel": "20 MHz", "mcs": {"integers": [0, 9]}}, ["write mcs: 8"]),
        ({"standard": "802.11ax", "each": [{"mcs": 12}]}, ["each.0.mcs = 12 is out of range for 802.11ax"]),
        (
            {"standard": "802.11n", "aggregation": {"ampdu": "70 kB", "amsdu": "9 kB", "block_ack": 256}},
            ["amsdu can be 9000 B, above", "write 65535 B or less", "block_ack = 256 is above the limit"],
        ),
        (
            {"standard": "802.11ac", "edca": {"video": {"ampdu": "2 MB"}}},
            ["edca.video.ampdu can be 2000000 B"],
        ),
        (
            {"standard": "802.11ac", "edca": {"voice": {"cw_min": 7, "cw_max": 3}}},
            ["cw_min can be above cw_max"],
        ),
        ({"standard": "802.11ax", "edca": {"voice": {"txop": "9 ms"}}}, ["expected 0 to 8160 us"]),
        ({"standard": "802.11be", "behaviour": "ns3"}, ["ns3 is not supported with 802.11be"]),
        ({"standard": "wifi6"}, ["Wi-Fi 6 is 802.11ax; write standard: 802.11ax"]),
        ({"standard": "wifi 6"}, ["Wi-Fi 6 is 802.11ax; write standard: 802.11ax"]),
    ],
)
def test_values_that_the_standard_does_not_define(fields: Any, texts: list[str]) -> None:
    lines = faults(**fields)
    assert len(lines) == len(texts)
    assert all(text in line for text, line in zip(texts, lines, strict=True))


def test_saturated_flows_are_datagrams() -> None:
    wireless = {"standard": "802.11ax", "cell": {"stations": 2}, "flows": [{"saturated": True}]}
    scenario = {"duration": "1 s", "transport": {"protocol": "newreno"}, "wireless": wireless}
    with pytest.raises(InputError, match=r"flows\.0\.saturated is supported only for UDP flows; add udp"):
        Scenario.check(scenario)
    wireless["flows"] = [{"saturated": True, "udp": {"rate": "1 Mbit/s"}}]
    Scenario.check(scenario)
