"""All objects of one row: channel, stations, links, legs and flows."""

from collections.abc import Callable, Iterator
from itertools import count, repeat
from typing import Any

from netcarlo.kernels.base.layout import FOREVER
from netcarlo.kernels.senders import KINDS, LINUX_KINDS, LINUX_RENO, OWN
from netcarlo.kernels.wireless.layout import (
    FIXED,
    MINSTREL,
    STREAM_DISTURBED,
    STREAM_FRAME,
    STREAM_RATES,
    WifiRows,
)
from tests.twins.path.engine import Simulation
from tests.twins.path.link import Packet
from tests.twins.random_numbers import Streams
from tests.twins.wireless.arrivals import Slot, classes_of
from tests.twins.wireless.channel import Channel
from tests.twins.wireless.clock import Clock, Phase, Turn
from tests.twins.wireless.edca.agreement import Agreement
from tests.twins.wireless.edca.air import EdcaAirTimes
from tests.twins.wireless.edca.station import EdcaStation
from tests.twins.wireless.flows import Flow, Tcp, Udp
from tests.twins.wireless.frames import AirTimes
from tests.twins.wireless.legs import Server
from tests.twins.wireless.linux import Linux
from tests.twins.wireless.minstrel import Minstrel
from tests.twins.wireless.node import Node
from tests.twins.wireless.quic import Quic
from tests.twins.wireless.rate_control import RateControl
from tests.twins.wireless.sctp import Sctp
from tests.twins.wireless.station import Station
from tests.twins.wireless.tables import FlowParameters, Tables

SACK_BASED = "bic", "cubic", "westwood"
NEVER_LOSES = 0xFFFFFFFF


class Link:
    """Link from one station to another: rate, and losses by noise and disturbances."""

    def __init__(
        self, control: RateControl | Minstrel, gaps: Iterator[int] | None, endured: Iterator[int] | None,
        by_rate: Callable[[int], bool] | None,
    ) -> None:  # fmt: skip
        self.control = control
        self.by_rate = by_rate
        self.gaps = gaps
        self.survivors_left = next(gaps) if gaps is not None else 0
        self.endured = endured  # duration of disturbance that each frame survives [us]

    def noise_destroys(self, rate: int | None = None) -> bool:
        """Return True if the next data frame, or MPDU at a rate, is lost."""
        if self.by_rate is not None and rate is not None:
            return self.by_rate(rate)
        if self.gaps is None:
            return False
        if self.survivors_left == 0:
            self.survivors_left = next(self.gaps)
            return True
        self.survivors_left -= 1
        return False

    def disturbance_destroys(self, duration: int) -> bool:
        """Return True if a data frame that others disturbed for `duration` [ns] is lost."""
        return self.endured is None or duration > 1000 * next(self.endured)


class World:
    def __init__(self, rows: WifiRows, row: int, *, protocol: str) -> None:
        """Build the network.

        `protocol` is the transport of TCP flows: "sack", "sack_cubic", "sctp", "linux_cubic" or the like;
        with "mixed", each flow has its own.
        """
        self.tables = Tables(rows, row)
        self.p = self.tables.p
        self.radio = self.tables.radio
        self.streams = Streams(self.p.SEED, self.p.SCENARIO, self.p.REPLICATION)
        self.simulation = Simulation()
        edca = bool(self.tables.functions)
        self.air = (EdcaAirTimes if edca else AirTimes)(self.radio, self.tables.rates)
        self.channel = Channel(self)
        kind = EdcaStation if edca else Station
        self.stations: list[Node] = [kind(self, n, columns) for n, columns in enumerate(self.tables.nodes)]
        self.agreements = [Agreement(n, columns) for n, columns in enumerate(self.tables.agreements)]
        functions = [f for s in self.stations if isinstance(s, EdcaStation) for f in s.functions]
        for function in functions:
            numbers = [n for n, c in enumerate(self.tables.agreements) if function.number == c.FUNCTION]
            function.agreements = [self.agreements[n] for n in numbers]
        self.links = [
            Link(
                self._control(n, columns), self.gaps(STREAM_FRAME + n, columns.LOSS),
                self._endured(STREAM_DISTURBED + n, columns.FRAGILITY), self._by_rate(n),
            )
            for n, columns in enumerate(self.tables.links)
        ]  # fmt: skip
        self.legs = [
            Server(self, Clock(self.simulation, Phase.LEG, n), self.streams, n, columns)
            for n, columns in enumerate(self.tables.legs)
        ]
        self.rows, self.row, self.protocol = rows, row, protocol
        self.flows: list[Any] = [
            Slot(self, n, columns) if columns.CLASS else self.flow(n, columns)  # type: ignore[arg-type]
            for n, columns in enumerate(self.tables.flows)
        ]
        self.classes = classes_of(self)

        self.early = 0  # EDCA: time since the reception of data that a node passes up [ns]
        self.refills = False  # EDCA: packets of saturated sources were sent or given up
        self.shortened: Node | None = None  # EDCA: node whose queue became shorter in this event
        if self.tables.outages:
            self._expect_outage(0)

    @property
    def warm_up(self) -> int:
        return int(self.radio.WARM_UP)

    def flow(self, n: int, columns: Any) -> Flow:
        """Return a flow with new endpoints."""
        protocol = self.protocol
        own = self.tables.transports[n] if protocol.startswith("mixed") else None
        parameters = FlowParameters(self.rows, self.row, columns, n, own)
        if not columns.TCP:
            return Udp(self, n, columns)
        if own is not None and columns.KIND >= LINUX_RENO:
            control = (*LINUX_KINDS, OWN)[columns.KIND - LINUX_RENO].removeprefix("linux_")
            return Linux(self, n, columns, control, parameters)
        if own is not None:
            kind = KINDS[columns.KIND]
            return Tcp(self, n, columns, f"sack_{kind}" if kind in SACK_BASED else kind, parameters)
        if protocol in ("sctp", "quic"):
            return (Sctp if protocol == "sctp" else Quic)(self, n, columns, parameters)
        if protocol.startswith("linux_"):
            return Linux(self, n, columns, protocol.removeprefix("linux_"), parameters)
        return Tcp(self, n, columns, protocol, parameters)

    def _expect_outage(self, k: int) -> None:
        """Schedule outage k of the gateway, which starts after a frame in transmission, and its end."""
        clock, gateway = Clock(self.simulation, Phase.OUTAGE, 0), self.stations[-1]

        def goes_down() -> None:
            if gateway.on_air:
                clock.at(self.channel.on_air[gateway.number].end, Turn.FIRST, goes_down)
            else:
                gateway.go_down()
                clock.at(max(self.tables.outages[k][1], clock.now), Turn.FIRST, comes_back)

        def comes_back() -> None:
            gateway.come_back()
            if k + 1 < len(self.tables.outages):
                self._expect_outage(k + 1)

        clock.at(max(self.tables.outages[k][0], clock.now), Turn.FIRST, goes_down)

    def _control(self, number: int, columns: Any) -> RateControl | Minstrel:
        """Return the rate control of a link."""
        if self.radio.RATE_CONTROL != MINSTREL:
            return RateControl(self.radio, columns)
        return Minstrel(
            columns, self.tables.rates, lambda k: self.streams.block(STREAM_RATES + number, k)[0]
        )

    def _by_rate(self, number: int) -> Callable[[int], bool] | None:
        """Return a function that tells whether noise destroys the next MPDU at a rate (EDCA with rate
        control).
        """
        if not self.agreements or self.radio.RATE_CONTROL == FIXED:
            return None
        chances, draws = self.tables.errors(number), count(1)
        return lambda rate: self.streams.block(STREAM_FRAME + number, next(draws))[0] < chances[rate]

    def gaps(self, stream: int, row: int) -> Iterator[int] | None:
        thresholds = self.tables.losses[row]
        if thresholds[-1] == NEVER_LOSES:
            return None
        return self.streams.gaps(stream, thresholds)

    def _endured(self, stream: int, fragility: int) -> Iterator[int] | None:
        if fragility == 0:
            return None
        return self.gaps(stream, fragility - 1) or repeat(FOREVER)

    def settle(self) -> None:
        """Continue senders held back by a full queue, then saturated sources, at the end of an event
        (EDCA).
        """
        node, self.shortened = self.shortened, None
        if node is not None:
            for transmit_pending in node.on_room.values():
                transmit_pending()
        refills, self.refills = self.refills, False
        if refills:
            for flow in self.flows:
                flow.refill()

    def packets(self) -> list[Packet]:
        """Return the packets that a node or leg still needs, including those of which the next node has a
        copy.
        """
        queued = [packet for station in self.stations for packet in station.kept()]
        return queued + [packet for leg in self.legs for packet, _, _ in leg.inside]

    def in_flight(self, flow: Any) -> int:
        """Return the data packets of a flow in flight: in legs and queues, and not received by the next node.

        Packets that wait for queue space at their source are included.
        """
        queued = [packet for station in self.stations for packet in station.not_received()]
        inside = [packet for leg in self.legs for packet, _, _ in leg.inside]

        def counts(packet: Packet) -> bool:
            return packet.path == flow.number and packet.kind == "data"

        return sum(counts(packet) for packet in queued + inside + flow.waiting())
