"""Description of a path: hops in tandem from sender to receiver, with outages and cross traffic."""

from collections.abc import Iterable, Iterator
from typing import Annotated, Any, ClassVar, Self

from pydantic import Discriminator, Field, Tag, model_validator

from netcarlo.errors import InputError
from netcarlo.networks.aqm import Managed, Red
from netcarlo.networks.jitter import Jitter
from netcarlo.networks.outages import AVAILABILITY, Outages
from netcarlo.networks.service import Service
from netcarlo.networks.traces import AnyTrace
from netcarlo.schema.limit import Queue
from netcarlo.schema.quantity import (
    Correlation,
    Count,
    Delay,
    Interval,
    Load,
    Payload,
    Probability,
    Rate,
    Stretch,
    Time,
    bounds,
)
from netcarlo.schema.record import Record
from netcarlo.schema.unsupported import LINE_WORDS, LINK_LAYER

MAX_HOPS = 64
"""Maximum number of hops of a path."""


class Reverse(Managed):
    """Properties of a hop in the direction of acknowledgements. Default: those of the data direction.

    Rate and delay of a `trace` also apply to acknowledgements, unless this direction has its own; its loss
    does not.
    """

    rate: Rate | None = None
    """Bit rate. Default: that of the data direction."""
    delay: Delay | None = None
    """One-way propagation delay. Default: that of the data direction."""
    queue: Queue | None = None
    """Queue limit, including the packet in transmission. Default: that of the data direction."""
    trace: AnyTrace | None = None
    """Trace of rate, delay and loss over time in this direction. Default: that of the data direction."""
    repeat: bool | None = None
    """True if that trace starts again at its end."""
    red: Red | None = None
    """Random early detection. Default: that of the data direction."""

    @model_validator(mode="after")
    def _fits_its_trace(self) -> Self:
        if self.trace is None and self.repeat is not None:
            raise InputError("repeat needs a trace; add a trace, or remove repeat")
        for name in ("rate", "delay"):
            given = getattr(self, name) is not None
            if given and self.trace is not None and self.trace.mean(name) is not None:
                raise InputError(f"{name} is also a column of the trace; remove one of them")
        return self


class CrossTraffic(Record):
    """Cross traffic at a constant bit rate in the direction of data; rate 0 means none."""

    rate: Load
    """Bit rate of the cross traffic; 0 means none."""
    packet: Payload = 1000.0
    """Packet size of the cross traffic."""

    @model_validator(mode="after")
    def _bearable(self) -> Self:
        if bounds(self.rate)[1] > 8e6 * bounds(self.packet)[0]:
            raise InputError("rate can be above a packet per microsecond; lower it or raise packet")
        return self


class Bursts(Record):
    """Burst losses: a Gilbert-Elliott channel.

    The time between bursts and the length of a burst are geometric numbers of packets with means `apart` and
    `length`. In a burst each packet is lost with probability `loss`.
    """

    apart: Stretch
    """Mean number of packets between two bursts."""
    length: Stretch
    """Mean number of packets in a burst."""
    loss: Probability = 1.0
    """Probability that a packet in a burst is lost."""


class HopSpec(Service, Managed):
    """A FIFO link with a drop-tail queue, or with active queue management.

    Outside `bursts`, packets are lost independently with probability `loss`. With a `tick`, data leaves the
    far end only at the ticks of a clock, several packets at once, as from a delay element driven by an
    operating system's clock. `jitter`, traces and policers apply to data, see `Service`; `ack_jitter` applies
    to acknowledgements.
    """

    rate: Rate
    """Bit rate. Omit it if a `trace` has rates."""
    delay: Delay
    """One-way propagation delay. Omit it if a `trace` has delays."""
    queue: Queue = 50.0
    """Queue limit, including the packet in transmission; or `codel`, `pie`, `fq_codel`."""
    loss: Probability = 0.0
    """Probability that a data packet is lost, independently of others unless `loss_correlation` is given."""
    loss_correlation: Correlation | None = None
    """Correlation of losses of data as with `netem loss P% R%`, which lowers the share of lost packets.
    Default: none."""
    bursts: Bursts | None = None
    """Burst losses of data, in addition to independent losses. Default: none."""
    ack_loss: Probability = 0.0
    """Probability that an acknowledgement is lost."""
    ack_loss_correlation: Correlation | None = None
    """Correlation of losses of acknowledgements, see `loss_correlation`. Default: none."""
    ack_bursts: Bursts | None = None
    """Burst losses of acknowledgements. Default: none."""
    outages: Outages = Field(default_factory=list)
    """Outages of the hop in both directions: given times, or random with given means. Default: none."""
    reverse: Reverse = Reverse()
    """Properties that differ in the direction of acknowledgements."""
    cross_traffic: CrossTraffic | None = None
    """Cross traffic in the direction of data at a constant bit rate. Default: none."""
    tick: Interval | None = None
    """Period of a clock at whose ticks data leaves the far end, several packets at once. Default: no
    clock."""
    tick_phase: Time | None = None
    """Phase of that clock at time 0. Default: drawn for each replication."""
    ack_jitter: Jitter | None = None
    """Random delay of each acknowledgement. Default: none."""
    red: Red | None = None
    """Random early detection in place of drop-tail. Default: drop-tail."""

    absent: ClassVar = LINK_LAYER | AVAILABILITY
    meant: ClassVar = LINE_WORDS
    words: ClassVar = {**Managed.words, "overhead": Service.names}

    @model_validator(mode="after")
    def _correlated_or_in_bursts(self) -> Self:
        for name in ("", "ack_"):
            bursts, correlation = f"{name}bursts", f"{name}loss_correlation"
            if getattr(self, bursts) is not None and getattr(self, correlation) is not None:
                raise InputError(f"{bursts} and {correlation} are both given; remove one of them")
        return self

    @model_validator(mode="after")
    def _phase_of_a_tick(self) -> Self:
        if self.tick is None and self.tick_phase is not None:
            raise InputError("tick_phase needs a tick; add tick, or remove tick_phase")
        return self


class Hops(Record):
    """Several hops: `count` of them, each drawn independently from `each`."""

    count: Count
    """Number of hops."""
    each: HopSpec
    """Description of each hop; random values are drawn independently for each hop."""

    of_each: ClassVar = HopSpec

    @property
    def most_each(self) -> int:
        """Maximum number of hops."""
        return int(bounds(self.count)[1])


def _tag(data: Any) -> str:
    several = {"count", "each"} & set(data) if isinstance(data, dict) else isinstance(data, Hops)
    return "<hops>" if several else "<hop>"


AnyHop = Annotated[Annotated[HopSpec, Tag("<hop>")] | Annotated[Hops, Tag("<hops>")], Discriminator(_tag)]


def most_hops(hop: HopSpec | Hops) -> int:
    """Return the maximum number of hops of an item of `hops`."""
    return hop.most_each if isinstance(hop, Hops) else 1


class Route(Record):
    """A path: hops in tandem from sender to receiver.

    With `ecn`, hops with marking queue management may mark its data instead of dropping it.
    """

    hops: list[AnyHop] = Field(min_length=1)
    """Hops from sender to receiver."""
    ecn: bool | None = None
    """True if queues that mark may mark its data instead of dropping it. Default: false."""
    backup: bool | None = None
    """True if MPTCP sends data over it only while no other subflow is active. Default: false."""

    @model_validator(mode="after")
    def _short_enough(self) -> Self:
        most = sum(map(most_hops, self.hops))
        if most > MAX_HOPS:
            raise InputError(f"hops can be up to {most}; expected 1 to {MAX_HOPS}; lower a count")
        return self


def every_hop(routes: Iterable[Route]) -> Iterator[HopSpec]:
    """Yield the hops of paths; hops with a count occur once."""
    for route in routes:
        for hop in route.hops:
            yield hop.each if isinstance(hop, Hops) else hop
