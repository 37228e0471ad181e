"""Twin of the mobile host, compared with timelines computed by hand.

Forty packets leave the sender at time 0, 8 ms apart because of the first hop. Packet i passes the MAP at 50 +
8 i ms, reaches the router at 70 + 8 i and the host 10 ms later. The link goes down at 201 ms (15 packets have
arrived, packet 16 is in the air, packet 17 comes too late) and is up again at 301.5 ms; signalling begins at
51 ms.
"""

import numpy as np
import pytest

from netcarlo.kernels.base.layout import (
    BYTE_TIME_BITS,
    FHMIPV6,
    FMIPV6,
    HIMIPV6,
    HMIPV6,
    MIPV6,
    S_BINDING,
    S_MIP,
    SCHEDULE_PERIODIC,
    SCHEDULE_RANDOM,
    Hop,
    Out,
    Rows,
)
from tests.twins import simulate
from tests.twins.parameters import Parameters
from tests.twins.path.mobility.schedule import plan
from tests.twins.path.scenarios import MS, SECOND, empty_row, fill
from tests.twins.random_numbers import Streams

ALWAYS = 2**32
PACKETS = 40


def scenario(protocol: int, **changes: int) -> Rows:
    row = empty_row()
    rate = 8000 << BYTE_TIME_BITS  # 1 Mbit/s
    row.hops[0, 0, 0, : Hop.PRESENT + 1] = [rate, 50 * MS, 0, 0, 0, 50 * MS, 0, 0, 1]
    row.hops[0, 0, 1, : Hop.PRESENT + 1] = [0, 10 * MS, 0, 0, 0, 10 * MS, 0, 0, 1]
    row.outages[0, 0, 1, 0] = 201 * MS, 202 * MS
    fill(row, {
        "SEED": 1, "END": SECOND, "LIMIT": PACKETS, "WINDOW": PACKETS, "INITIAL_WINDOW": PACKETS,
        "INITIAL_SSTHRESH": PACKETS, "DATA": 960, "HEADER": 40, "ACK": 40, "TICK": 10 * MS,
        "MIN_RTO": 5 * SECOND, "MAX_RTO": 60 * SECOND, "INITIAL_RTO": 5 * SECOND, "DUPACKS": 1000,
        "ACK_EVERY": 1, "ACK_DELAY": 10 * MS, "SAMPLE": 100 * MS,
        "HANDOVER": protocol, "HANDOVERS": 10, "OUTAGE": 100_500_000, "ANTICIPATION": 150 * MS,
        "PREPARATION": 20 * MS, "ANNOUNCE": 5 * MS, "DETECTION": 30 * MS, "MAP_TO_AR": 20 * MS,
        "MAP_TO_MAP": 15 * MS, "HOME_AGENT": 40 * MS, "BUFFER": 50, "SETTLE": 10 * MS,
    } | changes)  # fmt: skip
    return row


def outcome(protocol: int, **changes: int) -> dict[str, int]:
    """Return the non-zero outcomes of the handover; the silence in microseconds."""
    out = simulate("tcp_newreno_mobile", scenario(protocol, **changes))
    columns = [
        Out.RECEIVED, Out.DROPS_HANDOVER, Out.DROPS_BUFFER, Out.BUFFERED, Out.TUNNELLED, Out.COPIES,
        Out.DISCARDED, Out.REORDERED, Out.SILENCE, Out.PREPARED, Out.IN_FLIGHT, Out.ACK_DROPS,
    ]  # fmt: skip
    values = {column.name.lower(): int(out[column]) for column in columns if out[column]}
    if "silence" in values:
        values["silence"] //= 1000
    return values


def test_without_a_handover_all_arrive_8_ms_apart() -> None:
    assert outcome(MIPV6, HANDOVERS=0) == {"received": 40, "silence": 8_000}


def test_mipv6_loses_what_was_sent_to_the_old_place() -> None:
    assert outcome(MIPV6) == {"received": 15, "drops_handover": 25, "silence": 8_000}


def test_mipv6_tells_the_sender_by_way_of_the_home_agent() -> None:
    """331.5 ms detected, home agent 140, return routability max(220, 160), binding update 80: 771.5."""
    late = {"START": 771 * MS, "END": 2 * SECOND}
    assert outcome(MIPV6, **late) == {"drops_handover": 40}
    late["START"] += MS
    assert outcome(MIPV6, **late) == {"received": 40, "silence": 8_000}


def test_hmipv6_tells_the_map() -> None:
    """The MAP knows at 331.5 + 30 ms: packet 39 passes at 362 and arrives at 392."""
    expected = {"received": 17, "drops_handover": 23, "silence": 192_000}
    assert outcome(HMIPV6) == expected
    assert outcome(HMIPV6, DOMAIN_SIZE=2) == expected  # there is another router under this MAP


def test_hmipv6_between_maps_tells_the_sender() -> None:
    """The host is registered with the new MAP at 391.5, then as MIPv6: the sender knows at 391.5 + 440
    ms."""
    late = {"DOMAIN_SIZE": 1, "START": 831 * MS, "END": 2 * SECOND}
    assert outcome(HMIPV6, **late) == {"drops_handover": 40}
    late["START"] += MS
    assert outcome(HMIPV6, **late) == {"received": 40, "silence": 8_000}


def test_fmipv6_predictive_tunnels_early_and_loses_nothing() -> None:
    """The answer arrives at 171: from 161 on (packet 12) all packets take the tunnel of 40 ms.

    The new router holds them until the announcement at 316.5: packets 12 to 25.
    """
    expected = {"received": 40, "buffered": 14, "tunnelled": 29, "silence": 158_500, "prepared": 1}
    assert outcome(FMIPV6) == expected


def test_fmipv6_predictive_overflows_a_small_buffer() -> None:
    expected = {
        "received": 36, "drops_buffer": 4, "buffered": 10, "tunnelled": 29, "silence": 158_500, "prepared": 1,
    }  # fmt: skip
    assert outcome(FMIPV6, BUFFER=10) == expected


@pytest.mark.parametrize("late", [{"PREPARATION": 51 * MS}, {"ANTICIPATION": 0}])
def test_fmipv6_reactive_keeps_packets_at_the_old_router(late: dict[str, int]) -> None:
    """The host signals from the new router: 331.5 + 50. Packet 16 is lost in the air, 17 to 38 wait."""
    expected = {
        "received": 39, "drops_handover": 1, "buffered": 22, "tunnelled": 24, "silence": 231_500,
    }  # fmt: skip
    assert outcome(FMIPV6, **late) == expected
    small = expected | {"received": 22, "buffered": 5, "drops_buffer": 17, "tunnelled": 7}
    assert outcome(FMIPV6, BUFFER=5, **late) == small


def test_s_binding_delivers_twice() -> None:
    """From 161 on packets are tunnelled and delivered: 12 to 15 arrive twice, originals from 16 on die."""
    expected = {
        "received": 44, "buffered": 14, "copies": 29, "discarded": 25, "silence": 126_500, "prepared": 1,
    }  # fmt: skip
    assert outcome(S_BINDING) == expected


def test_s_mip_simulcasts_from_the_map() -> None:
    """Copies are sent from 141 (packet 12) to 336.5 (packet 35); the new router holds 12 to 30 until
    316.5."""
    expected = {
        "received": 44, "buffered": 19, "copies": 24, "discarded": 20, "silence": 126_500, "prepared": 1,
    }  # fmt: skip
    assert outcome(S_MIP) == expected


def test_s_mip_tunnels_what_came_before_the_copies() -> None:
    """Copies begin at 191, packet 18; packet 17 is at the old router at 206 and at the new one at 246."""
    expected = {
        "received": 39, "drops_handover": 1, "buffered": 14, "tunnelled": 1, "copies": 18, "discarded": 18,
        "silence": 126_500, "prepared": 1,
    }  # fmt: skip
    assert outcome(S_MIP, PREPARATION=70 * MS) == expected


def test_s_mip_holds_copies_until_the_tunnelled_have_come() -> None:
    """The link is up at 211 and the host announced at 226, but the copies wait until 191 + 60 = 251."""
    expected = {
        "received": 39, "drops_handover": 1, "buffered": 5, "tunnelled": 1, "copies": 7, "discarded": 7,
        "silence": 56_000, "prepared": 1,
    }  # fmt: skip
    assert outcome(S_MIP, PREPARATION=70 * MS, OUTAGE=10 * MS) == expected


def test_fhmipv6_redirects_at_the_map() -> None:
    """The MAP redirects from 141 on, packet 12; 12 to 30 wait for the announcement at 316.5."""
    expected = {"received": 40, "buffered": 19, "silence": 158_500, "prepared": 1}
    assert outcome(FHMIPV6) == expected


def test_fhmipv6_unprepared_is_hmipv6() -> None:
    assert outcome(FHMIPV6, PREPARATION=51 * MS) == outcome(HMIPV6)


def test_himipv6_delivers_what_the_host_has_missed() -> None:
    """Packets are copied from 81 (packet 4) to 336.5 (packet 35); the new router delivers from packet 16
    on."""
    expected = {
        "received": 40, "buffered": 15, "copies": 32, "discarded": 32, "silence": 126_500, "prepared": 1,
    }  # fmt: skip
    assert outcome(HIMIPV6) == expected


def test_himipv6_waits_for_an_unready_router() -> None:
    """The router is ready at 81 + 40 + 200, known there 20 later: 341 instead of 316.5."""
    assert outcome(HIMIPV6, PREPARATION=200 * MS)["silence"] == 151_000


def test_himipv6_unprepared_loses_until_the_map_knows() -> None:
    assert outcome(HIMIPV6, ANTICIPATION=0) == outcome(HMIPV6)


def test_himipv6_between_maps_tunnels() -> None:
    """The old MAP sends by the new one, 15 ms more, and from 351.5 on (packet 38) only there."""
    expected = {
        "received": 40, "buffered": 13, "tunnelled": 3, "copies": 34, "discarded": 34, "silence": 126_500,
        "prepared": 1,
    }  # fmt: skip
    assert outcome(HIMIPV6, DOMAIN_SIZE=1) == expected


def test_himipv6_new_packets_wait_until_the_tunnel_is_quiet() -> None:
    """The sender knows at 366.5 + 60 + 160 + 80 = 666.5.

    Packets 1 to 3 are at the new router at 748, 756 and 764, and are delivered at 316.5 + 450, all at
    once; the n-buffer is open then.
    """
    late = {"DOMAIN_SIZE": 1, "HOME_AGENT": 0, "SETTLE": 450 * MS, "START": 670 * MS, "END": 2 * SECOND}
    assert outcome(HIMIPV6, **late) == {"received": 40, "buffered": 3, "silence": 8_000, "prepared": 1}
    row = scenario(HIMIPV6, **late)
    assert simulate("tcp_newreno_mobile", row)[Out.FIRST_RX] == 776_500_000


@pytest.mark.parametrize("protocol", [FMIPV6, FHMIPV6])
def test_a_false_alarm_leads_redirected_packets_astray(protocol: int) -> None:
    """Packets 12 to 23 are lost, from 161 until the mistake is undone at 261."""
    alarm = {"FALSE_ALARM": ALWAYS, "FALSE_ALARM_TIME": 60 * MS}
    expected = {"received": 28, "drops_handover": 12, "silence": 104_000}
    assert outcome(protocol, **alarm) == expected


@pytest.mark.parametrize("protocol", [MIPV6, HMIPV6, S_BINDING, S_MIP, HIMIPV6])
def test_a_false_alarm_is_harmless_to_the_others(protocol: int) -> None:
    alarm = {"FALSE_ALARM": ALWAYS, "FALSE_ALARM_TIME": 60 * MS}
    assert outcome(protocol, **alarm) == {"received": 40, "silence": 8_000}


@pytest.mark.parametrize("protocol", [MIPV6, HMIPV6, FMIPV6, S_BINDING, S_MIP, FHMIPV6, HIMIPV6])
def test_signalling_that_never_arrives_ends_the_transfer(protocol: int) -> None:
    expected = {"received": 15, "drops_handover": 25, "silence": 8_000}
    assert outcome(protocol, SIGNAL_LOSS=ALWAYS, END=4 * SECOND) == expected


def test_an_acknowledgement_without_a_link_is_lost() -> None:
    """Packet 15 is alone at 200 ms; its acknowledgement would be due at 210."""
    assert outcome(MIPV6, ACK_EVERY=2)["ack_drops"] == 1


def test_a_return_needs_no_preparation_with_s_binding() -> None:
    pendulum = {"PING_PONG": ALWAYS, "PING_PONG_STAY": 400 * MS, "PREPARATION": 100 * MS}
    assert outcome(S_BINDING, **pendulum)["prepared"] == 1  # the return, not the first move
    assert "prepared" not in outcome(FMIPV6, **pendulum)


def handovers(**changes: int) -> list[tuple[int, int, bool, bool, bool]]:
    """Return handovers by down and up [ms], inter, return, false alarm."""
    row = scenario(HMIPV6, **changes)
    p = Parameters(row, 0)
    return [
        (h.down // MS, h.up // MS, h.inter, h.is_return, h.false_alarm)
        for h in plan(p, Streams(p.SEED, p.SCENARIO, p.REPLICATION), [201 * MS])
    ]


def test_periodic_handovers_cross_a_domain_at_every_second_one() -> None:
    periodic = {
        "SCHEDULE": SCHEDULE_PERIODIC, "FIRST_HANDOVER": 100 * MS, "EVERY": 200 * MS, "DOMAIN_SIZE": 2,
        "OUTAGE": 50 * MS, "END": 700 * MS,
    }  # fmt: skip
    regular = [
        (100, 150, False, False, False), (300, 350, True, False, False), (500, 550, False, False, False),
        (700, 750, True, False, False),
    ]  # fmt: skip
    assert handovers(**periodic) == regular
    assert handovers(**periodic, HANDOVERS=2) == regular[:2]
    assert handovers(**periodic, LEAST_STAY=220 * MS) == [
        (220, 270, False, False, False), (490, 540, True, False, False),
    ]  # fmt: skip


def test_ping_pong_returns_over_the_same_border() -> None:
    pendulum = {
        "SCHEDULE": SCHEDULE_PERIODIC, "FIRST_HANDOVER": 100 * MS, "EVERY": 200 * MS, "DOMAIN_SIZE": 1,
        "OUTAGE": 50 * MS, "END": 600 * MS, "PING_PONG": ALWAYS, "PING_PONG_STAY": 20 * MS,
    }  # fmt: skip
    assert handovers(**pendulum) == [
        (100, 150, True, False, False), (170, 220, True, True, False), (300, 350, True, False, False),
        (370, 420, True, True, False), (500, 550, True, False, False), (570, 620, True, True, False),
    ]  # fmt: skip


@pytest.mark.full
def test_random_stays_are_chords_of_a_round_cell() -> None:
    """The distance of paths from the centre is uniform, so the mean chord is pi / 4 of the diameter."""
    row = scenario(
        HMIPV6, SCHEDULE=SCHEDULE_RANDOM, EVERY=100 * MS, HANDOVERS=4000, END=4000 * SECOND, OUTAGE=1
    )
    p = Parameters(row, 0)
    found = plan(p, Streams(p.SEED, p.SCENARIO, p.REPLICATION), [])
    stays = np.diff([0, *(handover.down for handover in found)])
    assert len(found) == 4000
    assert stays.min() > 0 and stays.max() <= 100 * MS + 1
    assert abs(stays.mean() / (100 * MS) - np.pi / 4) < 0.015
