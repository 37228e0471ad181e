"""Signalling messages: propagation delay, random loss on the radio link, and retransmission."""

from enum import IntEnum

from netcarlo.kernels.base.layout import STREAM_SIGNALLING
from tests.twins.parameters import Parameters
from tests.twins.path.mobility import NEVER, Time
from tests.twins.random_numbers import Streams

SECOND = 1_000_000_000
ATTEMPTS = 6


class Message(IntEnum):
    """Messages of a mobile host in a handover."""

    PREPARE = 0  # fast binding update
    REGISTER = 1  # with the MAP
    HOME_AGENT = 2
    RETURN_ROUTABILITY = 3
    CORRESPONDENT = 4  # binding update
    ANNOUNCE = 5  # at the new router


class Signalling:
    """Exchanges of one handover."""

    def __init__(self, parameters: Parameters, streams: Streams, handover: int, *, up: int, down: int,
                 backbone_up: int, backbone_down: int) -> None:
        self.loss = parameters.SIGNAL_LOSS
        self.to_home = parameters.HOME_AGENT
        self.streams = streams
        self.handover = handover
        self.host_to_map = up
        self.map_to_host = down
        self.map_to_sender = backbone_up
        self.sender_to_map = backbone_down

    def send(self, message: Message, begin: Time, delay: int) -> Time:
        """Return the arrival time of a message [ns]."""
        return self._first_success(message, begin, delay, replied=False)

    def exchange(self, message: Message, begin: Time, round_trip: int) -> Time:
        """Return the arrival time of the reply to a message [ns]."""
        return self._first_success(message, begin, round_trip, replied=True)

    def _first_success(self, message: Message, begin: Time, delay: int, *, replied: bool) -> Time:
        for attempt in range(ATTEMPTS):
            draw = (self.handover * 8 + message) * 8 + attempt
            there, back, _, _ = self.streams.block(STREAM_SIGNALLING, draw)
            if there >= self.loss and (back >= self.loss or not replied):
                return begin + ((1 << attempt) - 1) * SECOND + delay
        return NEVER

    def register_at_home(self, begin: Time) -> Time:
        """Return the time at which the sender knows the new address [ns].

        The home agent comes first, then return routability over both routes, then the sender.
        """
        up, down, home = self.host_to_map, self.map_to_host, self.to_home
        known_at_home = self.exchange(Message.HOME_AGENT, begin, (up + home) + (home + down))
        over_home = up + home + home + home + home + down
        direct = up + self.map_to_sender + self.sender_to_map + down
        allowed = self.exchange(Message.RETURN_ROUTABILITY, known_at_home, max(over_home, direct))
        return self.send(Message.CORRESPONDENT, allowed, up + self.map_to_sender)
