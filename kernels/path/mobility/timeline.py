"""The timeline of a handover: what a protocol decides, as times that the way of a packet obeys.

Handover k takes the host from place k to place k + 1 of its journey.  Its words say from when on the
sender, the MAP and the two access routers treat packets differently; times are ns, FOREVER is never.

Here and in all that make a timeline `m` is the scratch, `at` where the words of handover `k` begin, and
`delays` where those of `Delay` begin.
"""

from enum import IntEnum


class Handover(IntEnum):
    """Words of a handover."""

    BEGIN = 0  # nothing of this handover happens before
    DOWN = 1  # the host leaves the old router
    UP = 2  # and is attached to the new one; the same for a false alarm
    INTER = 3  # 1 if the new router is under another MAP
    DETOUR = 4  # the MAP's way to the new router is longer by this
    AT_CN = 5  # what the sender puts out from then on goes straight to the new place
    AT_MAP = 6  # what passes the MAP from then on goes to the new place
    COPY = 7  # what passes the copying node from then on is copied to the new place
    FORWARD = 8  # the old router tunnels all that reaches it from then on
    KEPT = 9  # the old router keeps what it cannot deliver and tunnels it from then on
    TUNNEL = 10  # delay from the old router to the new one
    RELEASE = 11  # the new router delivers from then on; what comes earlier waits
    HOLD = 12  # copies wait there until then
    SETTLE = 13  # packets to the new address wait until the tunnel has been quiet for so long; then 0
    ASTRAY = 14  # what reaches the old router from then until DOWN is lost
    WAITING = 15  # packets that the new router's buffer has held
    KEEPING = 16  # packets that the old router's buffer has held
    LAST = 17  # when a tunnelled packet last reached the new router


class Delay(IntEnum):
    """Words that all handovers share: propagation delays of signalling messages [ns]."""

    RADIO_DOWN = 0  # access router to host
    RADIO_UP = 1  # host to access router
    TO_HOST = 2  # MAP to host
    TO_MAP = 3  # host to MAP
    TO_SENDER = 4  # host to sender
    HOME_TRIP = 5  # host to home agent and back
    ROUTABILITY = 6  # return routability: the longer of both round trips to the sender


WORDS = len(Handover)
DELAYS = len(Delay)
