"""Socket buffers, ticks and built-in congestion controls of a scenario, and their kernel parameters."""

import numpy as np
import pytest

from netcarlo.errors import InputError
from netcarlo.kernels.base.layout import Hop
from netcarlo.kernels.base.parameters import RowP, TcpP
from netcarlo.scenario import Scenario, load_scenario
from netcarlo.simulation.ensemble import build
from netcarlo.simulation.launches import model_of
from netcarlo.sweeps.space import congestion_files


def scenario(**transport: object) -> Scenario:
    data = {
        "duration": "10 s",
        "replications": 5,
        "transport": {"protocol": "sack", "payload": "1448 B", "window": 200, **transport},
        "hops": [{"rate": "10 Mbit/s", "delay": "10 ms"}],
    }
    return Scenario.check(data)


def columns(**transport: object) -> list[int]:
    parameters = build(scenario(**transport)).rows.parameters
    return [int(value) for value in parameters[0, [RowP.WINDOW, TcpP.SEND_BUFFER, TcpP.SEND_WAKE]]]


@pytest.mark.parametrize(
    ("buffer", "expected"),
    [
        (None, [200, 0, 0]),
        ({"size": "65536 B", "charge": "2048 B"}, [32, 32, 21]),
        ({"size": "65537 B", "charge": "2048 B"}, [33, 33, 21]),  # the last segment may exceed the limit
        ({"size": "14480 B"}, [10, 10, 6]),
        ({"size": "14480 B", "wake": 0.5}, [10, 10, 5]),
        ({"size": "1 B"}, [1, 1, 0]),
        ({"size": "1000000 B", "charge": "1448 B"}, [200, 691, 460]),
        ({"size": "65536 B", "doubled": True, "charge": "2048 B"}, [64, 64, 42]),
        ({"size": "65536 B", "doubled": True, "most": "32768 B", "charge": "2048 B"}, [32, 32, 21]),
    ],
)
def test_a_send_buffer_in_segments(buffer: dict[str, object] | None, expected: list[int]) -> None:
    assert columns(**({"send_buffer": buffer} if buffer else {})) == expected


@pytest.mark.parametrize(
    ("buffer", "window"),
    [
        ({"size": "65536 B"}, 33),  # three quarters
        ({"size": "65536 B", "share": 1}, 45),
        ({"size": "65536 B", "doubled": True}, 67),
        ({"size": "65536 B", "doubled": True, "most": "40000 B", "share": 0.5}, 27),
        ({"size": "1000 B"}, 1),
    ],
)
def test_a_receive_buffer_gives_the_window(buffer: dict[str, object], window: int) -> None:
    assert columns(receive_buffer=buffer) == [window, 0, 0]


def test_buffers_can_be_random_and_survive_a_round_trip() -> None:
    size = {"choice": ["16384 B", "65536 B", "262144 B"]}
    given = scenario(send_buffer={"size": size, "charge": "2048 B"}, receive_buffer={"size": "65536 B"})
    again = Scenario.check(given.model_dump(mode="json", exclude_none=True))
    assert again == given
    drawn = build(again.with_values({"replications": 50}))
    segments = drawn.rows.parameters[:, TcpP.SEND_BUFFER]
    assert set(segments) == {8, 32, 128}
    assert (segments == drawn.drawn["transport.send_buffer.size"] / 2048).all()


def test_a_window_beyond_the_rings_is_refused() -> None:
    with pytest.raises(InputError, match="over 4096 packets"):
        scenario(receive_buffer={"size": "10000000 B"})


def test_ticks_reach_the_forward_direction() -> None:
    plain = scenario()
    ticking = plain.with_values({"hops.0.tick": "4 ms"})
    hop = build(ticking).rows.hops[:, 0, 0]
    assert (hop[:, Hop.TICK] == 4_000_000).all() and len(set(hop[:, Hop.TICK_PHASE])) == 5
    assert ((hop[:, Hop.TICK_PHASE] >= 0) & (hop[:, Hop.TICK_PHASE] < 4_000_000)).all()
    fixed = ticking.with_values({"hops.0.tick_phase": "1.5 ms"})
    assert (build(fixed).rows.hops[:, 0, 0, Hop.TICK_PHASE] == 1_500_000).all()
    assert (build(plain).rows.hops[..., [Hop.TICK, Hop.TICK_PHASE]] == 0).all()
    with pytest.raises(InputError, match="tick_phase needs a tick"):
        plain.with_values({"hops.0.tick_phase": "1 ms"})


def test_congestion_controls_have_names() -> None:
    assert model_of(scenario(congestion_control="bic")).name == "tcp_sack_bic"
    assert model_of(scenario(protocol="newreno", congestion_control="cubic")).name == "tcp_newreno_cubic"
    with pytest.raises(InputError, match="write standard, bic, cubic, westwood or"):
        scenario(congestion_control="cubix")
    with pytest.raises(InputError, match="cannot replace that of vegas"):
        scenario(protocol="vegas", congestion_control="bic")
    with pytest.raises(InputError, match="belong to a congestion_control file"):
        scenario(congestion_control="bic", constants={"beta": 0.8})


def test_names_are_no_files(tmp_path) -> None:
    file = tmp_path / "scenario.yaml"
    file.write_text(
        "duration: 1 s\ntransport: {protocol: sack, congestion_control: bic}\n"
        "hops: [{rate: 1 Mbit/s, delay: 1 ms}]\n"
    )
    assert load_scenario(file).transport.congestion_control == "bic"
    definition = {"axes": [{"field": "transport.congestion_control", "values": ["bic", "cubic"]}]}
    assert congestion_files.collect(definition, tmp_path) == (definition, {})


def test_what_is_left_out_changes_no_identity() -> None:
    """Fields that are not given do not appear in keys, so those of stored sweeps stay."""
    from netcarlo.schema.fields import texts

    names = [name for name, _ in texts(scenario())]
    assert not [name for name in names if "buffer" in name or "tick_phase" in name or "hops.0.tick" in name]
    assert np.isin(["transport.window", "paths.0.hops.0.rate"], names).all()
