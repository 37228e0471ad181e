"""Timeline of a handover by each handover protocol."""

from collections.abc import Callable
from dataclasses import dataclass

from netcarlo.kernels.base import layout
from tests.twins.parameters import Parameters
from tests.twins.path.mobility import NEVER, Time
from tests.twins.path.mobility.schedule import Handover
from tests.twins.path.mobility.signalling import Message, Signalling


@dataclass
class Timeline:
    """Times [ns] from which on the network acts, and the delays of a handover."""

    down: Time
    up: Time
    inter: bool = False
    prepared: bool = False
    at_sender: Time = NEVER  # the sender sends to the new place
    at_map: Time = NEVER  # the MAP sends to the new place
    copy: Time = NEVER  # copies go to the new place as well
    forward: Time = NEVER  # the old router tunnels everything
    kept: Time = NEVER  # the old router tunnels undeliverable packets
    release: Time = NEVER  # the new router delivers
    hold: Time = NEVER  # the new router delivers copies
    tunnel: int = 0  # from the old to the new router
    detour: int = 0  # from the old MAP to the new one
    settle: int = 0  # the tunnel must have been quiet for so long


class TimelineBuilder:
    """Common data of the protocols for the timeline of one handover."""

    def __init__(self, parameters: Parameters, signalling: Signalling, handover: Handover) -> None:
        p = parameters
        self.parameters = p
        self.signalling = signalling
        self.handover = handover
        self.between_maps = p.MAP_TO_MAP if handover.inter else 0
        self.between_routers = 2 * p.MAP_TO_AR + self.between_maps
        self.up = signalling.host_to_map
        self.down = signalling.map_to_host
        self.radio_up = self.up - p.MAP_TO_AR
        self.radio_down = self.down - p.MAP_TO_AR
        self.preparation = p.PREPARATION
        self.in_time = handover.trigger < handover.expected_down
        self.latest_answer = handover.expected_down - p.MARGIN
        self.detected = handover.up + p.DETECTION
        self.attached = handover.up + p.ANNOUNCE
        self.timeline = Timeline(
            handover.down, handover.up, handover.inter,
            tunnel=self.between_routers, detour=self.between_maps, release=handover.up,
        )

    def announced(self) -> Time:
        return self.signalling.send(Message.ANNOUNCE, self.attached, self.radio_up)

    def register_with_map(self, begin: Time) -> Time:
        """Register with the same MAP."""
        return self.signalling.send(Message.REGISTER, begin, self.up)

    def register_with_map_before(self, begin: Time) -> Time:
        """Register with the MAP that receives the packets: the same one, or through the new one."""
        return self.signalling.send(Message.REGISTER, begin, self.up + self.between_maps)

    def register_with_new_map_and_sender(self, begin: Time) -> Time:
        local = self.signalling.exchange(Message.REGISTER, begin, self.up + self.down)
        return self.signalling.register_at_home(local)


def mipv6(making: TimelineBuilder) -> None:
    """Let the sender learn of every move, after the host has noticed it."""
    making.timeline.at_sender = making.signalling.register_at_home(making.detected)


def hmipv6(making: TimelineBuilder) -> None:
    """Let only the MAP learn of a move within a domain."""
    if making.handover.inter:
        making.timeline.at_sender = making.register_with_new_map_and_sender(making.detected)
    else:
        making.timeline.at_map = making.register_with_map(making.detected)


def fast_answer(making: TimelineBuilder) -> Time:
    """Return the time at which the old router has told the host that the new one is ready."""
    if not making.in_time:
        return NEVER
    routers = making.between_routers + making.preparation + making.between_routers
    round_trip = making.radio_up + routers + making.radio_down
    return making.signalling.exchange(Message.PREPARE, making.handover.trigger, round_trip)


def keep_at_old_router(making: TimelineBuilder) -> None:
    """Let the old router buffer packets until the host requests them (reactive handover)."""
    making.timeline.kept = making.signalling.send(
        Message.ANNOUNCE, making.detected, making.radio_up + making.between_routers
    )


def fmipv6(making: TimelineBuilder) -> None:
    answer = fast_answer(making)
    if answer <= making.latest_answer:
        making.timeline.prepared = True
        making.timeline.forward = answer - making.radio_down
        making.timeline.release = making.announced()
        making.timeline.at_sender = making.signalling.register_at_home(making.attached)
    else:
        keep_at_old_router(making)
        making.timeline.at_sender = making.signalling.register_at_home(making.detected)


def s_binding(making: TimelineBuilder) -> None:
    """Proceed as FMIPv6, but the old router delivers and tunnels; a return needs no preparation."""
    if making.handover.is_return:
        making.preparation = 0
    answer = fast_answer(making)
    if answer <= making.latest_answer:
        making.timeline.prepared = True
        making.timeline.copy = answer - making.radio_down
        making.timeline.release = making.announced()
        making.timeline.at_sender = making.signalling.register_at_home(making.attached)
    else:
        keep_at_old_router(making)
        making.timeline.at_sender = making.signalling.register_at_home(making.detected)


def map_is_ready(making: TimelineBuilder) -> Time:
    """Return the time at which the MAP knows that the new router is ready."""
    if not making.in_time:
        return NEVER
    to_new_router = making.between_maps + making.parameters.MAP_TO_AR
    delay = making.up + to_new_router + making.preparation + to_new_router
    return making.signalling.send(Message.PREPARE, making.handover.trigger, delay)


def s_mip(making: TimelineBuilder) -> None:
    """Let the MAP simulcast; earlier packets are tunnelled and delivered first."""
    copy = map_is_ready(making)
    if copy <= making.handover.expected_down:
        making.timeline.prepared = True
        making.timeline.copy = copy
        making.timeline.kept = making.handover.down
        making.timeline.hold = copy + making.parameters.MAP_TO_AR + making.between_routers
        making.timeline.release = making.announced()
        making.timeline.at_map = making.register_with_map_before(making.attached)
        if making.handover.inter:
            making.timeline.at_sender = making.register_with_new_map_and_sender(making.attached)
    else:
        keep_at_old_router(making)
        hmipv6(making)


def fhmipv6(making: TimelineBuilder) -> None:
    """Let the MAP redirect packets to the new router before the link goes down."""
    redirect = map_is_ready(making)
    if redirect + making.down <= making.latest_answer:
        making.timeline.prepared = True
        making.timeline.at_map = redirect
        making.timeline.release = making.announced()
        if making.handover.inter:
            making.timeline.at_sender = making.register_with_new_map_and_sender(making.attached)
    else:
        hmipv6(making)


def himipv6(making: TimelineBuilder) -> None:
    """Let the MAP copy packets at once; the new router delivers those that the host has missed."""
    timeline, handover = making.timeline, making.handover
    copy: Time = NEVER
    if making.in_time:
        copy = making.signalling.send(Message.PREPARE, handover.trigger, making.up)
    if copy <= handover.expected_down:
        timeline.prepared = True
        timeline.copy = copy
        preparation = 0 if handover.is_return else making.preparation
        to_new_router = making.parameters.MAP_TO_AR + making.between_maps
        answered = copy + to_new_router + preparation + to_new_router
        timeline.release = max(making.announced(), answered + to_new_router)
        start: Time = making.attached
    else:
        start = making.detected
    timeline.at_map = making.register_with_map_before(start)
    if handover.inter:
        timeline.settle = making.parameters.SETTLE
        timeline.at_sender = making.register_with_new_map_and_sender(start)


PROTOCOLS: dict[int, Callable[[TimelineBuilder], None]] = {
    layout.MIPV6: mipv6, layout.HMIPV6: hmipv6, layout.FMIPV6: fmipv6, layout.S_BINDING: s_binding,
    layout.S_MIP: s_mip, layout.FHMIPV6: fhmipv6, layout.HIMIPV6: himipv6,
}


def make_timeline(parameters: Parameters, signalling: Signalling, handover: Handover) -> Timeline:
    """Return the timeline of one handover."""
    making = TimelineBuilder(parameters, signalling, handover)
    PROTOCOLS[parameters.HANDOVER](making)
    return making.timeline


def astray_times(parameters: Parameters, signalling: Signalling, handover: Handover) -> tuple[Time, Time]:
    """Return the times between which a false alarm sends the router's packets to the wrong place.

    This concerns only protocols that redirect (and do not copy) before the link goes down.
    """
    timeline = make_timeline(parameters, signalling, handover)
    begin: Time = NEVER
    if parameters.HANDOVER == layout.FMIPV6 and timeline.prepared:
        begin = timeline.forward
    if parameters.HANDOVER == layout.FHMIPV6 and timeline.prepared:
        begin = timeline.at_map + parameters.MAP_TO_AR
    return begin, handover.down
