"""Application that pauses, from a scenario to its outcomes, and refused scenarios."""

from typing import Any

import pytest

from netcarlo import InputError, simulate
from netcarlo.kernels.base.parameters import LinuxP
from netcarlo.scenario import Scenario
from netcarlo.simulation.ensemble import build

HOPS = [{"rate": "10 Mbit/s", "delay": "20 ms", "queue": 100}]
SHARED = {"dumbbell": {"rate": "10 Mbit/s", "delay": "20 ms", "queue": 50}, "flows": [{}]}
MESSAGES = {"size": "200 kB", "pause": "2 s"}


def scenario(messages: Any = MESSAGES, transport: Any = None, **fields: Any) -> Scenario:
    data = {"duration": "60 s", "replications": 4, "hops": HOPS, **fields}
    data = {key: value for key, value in data.items() if value is not None}
    of = {"protocol": "linux", "messages": messages, **(transport or {})}
    transport = {key: value for key, value in of.items() if value is not None}
    return Scenario.check({**data, "transport": transport})


@pytest.mark.full
def test_a_pause_follows_each_message() -> None:
    """Messages of 139 packets take at least 0.17 s at 10 Mbit/s, then 2 s and the reverse path of the
    last ACK."""
    frame = simulate(scenario()).frame
    assert (frame.messages == 27).all()
    assert ((frame.message_mean_s > 0.19) & (frame.message_mean_s < 0.3)).all()
    assert (frame.message_p50_s <= frame.message_p99_s).all()
    assert frame.message_p50_s.to_numpy() == pytest.approx(frame.message_mean_s.to_numpy(), rel=0.3)
    assert frame.idle_share.to_numpy() == pytest.approx(26.55 * 2 / 60, abs=0.01)  # the last one is cut off
    assert frame.goodput_bps.to_numpy() == pytest.approx(27 * 139 * 1448 * 8 / 60, rel=0.01)
    assert frame.completion_s.isna().all() and (frame.mean_queue > 0).all()


@pytest.mark.full
def test_a_window_that_is_kept_is_faster_through_a_long_queue_and_loses_more_in_a_short_one() -> None:
    """A kept window leaves in one burst after a pause: 600 kB are 414 packets, 25 times."""

    def kept_and_restarted(queue: int) -> list[Any]:
        of = {"duration": "100 s", "hops": [{**HOPS[0], "queue": queue}]}
        segments = {"size": "600 kB", "every": "4 s"}
        found = (simulate(scenario(segments, {"idle_restart": on}, **of)).frame for on in (False, True))
        return [frame.mean() for frame in found]

    kept, restarted = kept_and_restarted(1000)
    assert kept.messages == restarted.messages == 25
    assert kept.retransmitted == restarted.retransmitted == 0
    assert kept.message_mean_s < restarted.message_mean_s - 0.03
    kept, restarted = kept_and_restarted(20)
    assert kept.retransmitted > 3 * restarted.retransmitted > 0
    assert kept.message_mean_s > restarted.message_mean_s


@pytest.mark.full
def test_sizes_and_pauses_are_drawn_for_each_message() -> None:
    """Messages have one of two sizes with equal probability, and pauses with a mean of one second."""
    two = {"size": {"choice": ["10 kB", "100 kB"]}, "pause": {"exponential": {"mean": "1 s"}}}
    frame = simulate(scenario(two, replications=20, duration="100 s")).frame
    packets = frame.acked / frame.messages
    assert packets.mean() == pytest.approx((7 + 70) / 2, rel=0.05)
    assert packets.std() > 1
    assert frame.idle_share.mean() / frame.messages.mean() * 100 == pytest.approx(1.0, rel=0.05)


def test_random_sizes_stand_in_a_table_behind_a_users_constants() -> None:
    rows = build(scenario(), replications=3).rows
    assert rows.parameters[0, [LinuxP.MESSAGE_SIZES, LinuxP.MESSAGE_WAITS, LinuxP.IDLE_RESTART]].tolist() == [
        0,
        5,
        1,
    ]
    assert rows.constants[0].tolist() == [2, 0, 200_000, 2**32, 200_000, 2, 0, 2e9, 2**32, 2e9]
    assert rows.parameters[0, LinuxP.MESSAGES] == 1


@pytest.mark.full
def test_what_has_no_messages_has_no_outcomes_of_them() -> None:
    """Frames of scenarios with and without messages differ only in the outcomes of messages."""
    with_, without = simulate(scenario()).frame, simulate(scenario(None)).frame
    own = {"messages", "idle_share", *(f"message_{what}_s" for what in ("mean", "p50", "p95", "p99"))}
    assert set(with_.columns) - set(without.columns) == own and not set(without.columns) - set(with_.columns)
    assert with_[[*own]].notna().all(axis=None)


@pytest.mark.parametrize(
    ("messages", "fields", "message"),
    [
        ({"size": "1 MB"}, {}, "pause and every are both missing; write one of them"),
        ({**MESSAGES, "every": "1 s"}, {}, "pause and every are both given"),
        ({"size": "0 B", "pause": "1 s"}, {}, "messages.size = '0 B' is below the limit; expected 1"),
        ({"size": "1 MB", "pause": "2 h"}, {}, "messages.pause = '2 h' is above the limit; expected"),
        (MESSAGES, {"transport": {"packets": 10}}, "packets and messages are both given; keep one"),
        (MESSAGES, {"transport": {"protocol": "newreno"}}, "transport.messages is an unknown field"),
        (MESSAGES, {"hops": None, "shared": SHARED}, "only on paths with drop-tail queues"),
        (MESSAGES, {"hops": [{**HOPS[0], "queue": "codel"}]}, "only on paths with drop-tail queues"),
        (None, {"transport": {"idle_restart": False}}, "idle_restart = false needs messages; add them"),
        (
            MESSAGES,
            {"transport": {"idle_restart": False, "congestion_control": "bbr"}},
            "idle_restart = false does not apply to bbr; remove it, or write congestion_control: cubic",
        ),
        (MESSAGES, {"fidelity": "fluid"}, "the fluid model of a path does not support messages"),
        (
            None,
            {"hops": None, "shared": SHARED, "transport": {"autotuning": True}},
            "autotuning is supported only on paths with drop-tail queues",
        ),
    ],
)
def test_what_does_not_go_together_is_refused(messages: Any, fields: Any, message: str) -> None:
    given = dict(fields)
    transport = given.pop("transport", None)
    with pytest.raises(InputError, match=message) as error:
        simulate(scenario(messages, transport, **{"hops": HOPS, **given}))
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("given", [{"messages": {"size": "20 kB", "pause": "1 s"}}, {"autotuning": True}])
def test_not_beside_jitter_that_reorders(given: dict[str, Any]) -> None:
    hop = {"rate": "1 Mbit/s", "delay": "5 ms", "jitter": {"uniform": ["0 ms", "5 ms"], "reorder": True}}
    with pytest.raises(InputError, match="jitter with reorder and transport"):
        Scenario.check({"duration": "3 s", "transport": {"protocol": "linux", **given}, "hops": [hop]})
