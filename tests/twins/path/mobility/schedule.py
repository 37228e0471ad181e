"""Times at which the host leaves one access router and is attached to the next."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from netcarlo.kernels.base.layout import SCHEDULE_GIVEN, SCHEDULE_PERIODIC, STREAM_MOBILITY
from tests.twins.parameters import Parameters
from tests.twins.random_numbers import Streams


@dataclass
class Handover:
    """Move of the host from place `number` to place `number + 1`; times in ns."""

    number: int
    trigger: int  # the host may signal from now on
    expected_down: int  # when the link goes down, or in a false alarm should have gone down
    down: int
    up: int
    inter: bool  # to another MAP; of a false alarm: as it seemed
    is_return: bool  # back to the router before (ping-pong)
    false_alarm: bool


def plan(parameters: Parameters, streams: Streams, given: Sequence[int]) -> list[Handover]:
    """Return the handovers of a run; `given` are the times of a given schedule."""
    p = parameters
    handovers: list[Handover] = []
    attached = 0  # to the present router since
    regular = 0  # handovers that are no returns
    cell = 0
    return_next = False
    for number in range(p.HANDOVERS):
        chord_word, jitter_word, ping_pong_word, alarm_word = streams.block(STREAM_MOBILITY, number)
        is_return = return_next
        false_alarm = False
        if is_return:
            down = attached + p.PING_PONG_STAY
            inter = handovers[-1].inter
            cell -= 1
        else:
            if p.SCHEDULE == SCHEDULE_GIVEN:
                if regular == len(given):
                    break
                down = given[regular]
            elif p.SCHEDULE == SCHEDULE_PERIODIC:
                down = p.FIRST_HANDOVER + regular * p.EVERY
            else:
                down = attached + time_in_round_cell(chord_word, p.EVERY)
            down = max(down, attached + p.LEAST_STAY)
            regular += 1
            inter = p.DOMAIN_SIZE > 0 and (cell + 1) % p.DOMAIN_SIZE == 0
            false_alarm = alarm_word < p.FALSE_ALARM
            if not false_alarm:
                cell += 1
        if down > p.END:
            break
        trigger = max(down - p.ANTICIPATION, attached + p.ANNOUNCE)
        if false_alarm:
            link_down = link_up = down + p.FALSE_ALARM_TIME  # the mistake is undone
        else:
            link_down = down
            link_up = down + outage(jitter_word, p.OUTAGE, p.OUTAGE_JITTER)
        handovers.append(
            Handover(number, trigger, down, link_down, link_up, inter, is_return, false_alarm)
        )
        attached = link_up
        return_next = not false_alarm and not is_return and ping_pong_word < p.PING_PONG
    return handovers


def time_in_round_cell(word: int, diameter: int) -> int:
    """Return the time along a chord at a random distance from the centre [ns].

    `diameter` is the time along the longest chord [ns].
    """
    distance = word >> 1  # of the chord from the centre, in radii / 2**31
    half_chord = math.sqrt(float(2**62 - distance**2))
    return int(half_chord * 2.0**-31 * float(diameter))


def outage(word: int, middle: int, jitter: int) -> int:
    """Return a duration that is uniform within `jitter` of the middle [ns]."""
    return max(1, middle - jitter + ((word >> 8) * 2 * jitter >> 24))
