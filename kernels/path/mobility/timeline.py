"""Timeline of a handover: the decisions of a protocol, as times that the forwarding of packets obeys.

Handover k moves the host from place k to place k + 1 of its journey. Its words are the times from which the
sender, the MAP and the two access routers treat packets differently [ns]; FOREVER is never.

In all functions that write a timeline, `m` is the scratch, `at` the word where handover `k` begins, and
`delays` the word where `Delay` begins.
"""

from enum import IntEnum


class Handover(IntEnum):
    """Words of a handover."""

    BEGIN = 0  # start of all effects of this handover
    DOWN = 1  # time at which the host leaves the old router
    UP = 2  # time of attachment to the new router; for a false alarm UP = DOWN
    INTER = 3  # 1 if the new router belongs to another MAP
    DETOUR = 4  # additional delay from the MAP to the new router
    AT_CN = 5  # packets sent from this time on are addressed to the new place
    AT_MAP = 6  # packets that pass the MAP from this time on are forwarded to the new place
    COPY = 7  # packets that pass the copying node from this time on are copied to the new place
    FORWARD = 8  # packets that reach the old router from this time on are tunnelled
    KEPT = 9  # the old router buffers undeliverable packets and tunnels them from this time on
    TUNNEL = 10  # delay from the old router to the new one
    RELEASE = 11  # the new router delivers from this time on; earlier packets are buffered
    HOLD = 12  # copies wait at the new router until this time
    SETTLE = 13  # required idle time of the tunnel before packets to the new address are delivered; then 0
    ASTRAY = 14  # packets that reach the old router from this time until DOWN are lost
    WAITING = 15  # packets that the new router has buffered
    KEEPING = 16  # packets that the old router has buffered
    LAST = 17  # latest arrival of a tunnelled packet at the new router


class Delay(IntEnum):
    """Words that all handovers share: propagation delays of signalling messages [ns]."""

    RADIO_DOWN = 0  # access router to host
    RADIO_UP = 1  # host to access router
    TO_HOST = 2  # MAP to host
    TO_MAP = 3  # host to MAP
    TO_SENDER = 4  # host to sender
    HOME_TRIP = 5  # host to home agent and back
    ROUTABILITY = 6  # return routability: the longer of the two round trips to the sender


WORDS = len(Handover)
DELAYS = len(Delay)
