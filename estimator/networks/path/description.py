"""A path: hops in tandem from the sender to the receiver, with outages and packets of others."""

from collections.abc import Iterable, Iterator
from typing import Annotated, Any, ClassVar, Self

from pydantic import Discriminator, Field, Tag, model_validator

from netcarlo.errors import InputError
from netcarlo.networks.aqm import Managed, Red
from netcarlo.networks.jitter import Jitter
from netcarlo.networks.outages import AVAILABILITY, Outages
from netcarlo.networks.traces import Trace
from netcarlo.networks.varying import Varying
from netcarlo.schema.quantity import (
    Count,
    Delay,
    Interval,
    Load,
    Payload,
    Probability,
    Queue,
    Rate,
    Stretch,
    Time,
    bounds,
)
from netcarlo.schema.record import Record
from netcarlo.schema.unsupported import OVERHEAD

MAX_HOPS = 64
"""Most hops of a path."""


class Reverse(Managed):
    """What differs in the direction of the acknowledgements; as forward unless given.

    So are rate and delay of a `trace`, unless they or a trace of this direction are given; its loss is not.
    """

    rate: Rate | None = None
    """Bit rate; as forward unless given."""
    delay: Delay | None = None
    """One-way delay of propagation; as forward unless given."""
    queue: Queue | None = None
    """Most packets that wait or are transmitted; as forward unless given."""
    trace: Trace | None = None
    """Rate, delay and loss over time of this direction."""
    repeat: bool | None = None
    """Whether that trace begins again at its end."""
    red: Red | None = None
    """Random early detection; as forward unless given."""

    @model_validator(mode="after")
    def _fits_its_trace(self) -> Self:
        if self.trace is None and self.repeat is not None:
            raise InputError("repeat belongs to a trace; give that too, or remove it")
        for name in ("rate", "delay"):
            given = getattr(self, name) is not None
            if given and self.trace is not None and self.trace.mean(name) is not None:
                raise InputError(f"{name} stands in the trace, too; remove one of them")
        return self


class CrossTraffic(Record):
    """Packets of others at a constant bit rate, in the direction of the data; rate 0 is none."""

    rate: Load
    """Bit rate of the others; 0 is none."""
    packet: Payload = 1000.0
    """Size of their packets."""

    @model_validator(mode="after")
    def _bearable(self) -> Self:
        if bounds(self.rate)[1] > 8e6 * bounds(self.packet)[0]:
            raise InputError("rate can be above a packet per microsecond; lower it or raise packet")
        return self


class Bursts(Record):
    """Packets are lost in bursts: a Gilbert-Elliott channel.

    A burst begins after a geometric number of packets with mean `apart`, and lasts a geometric number of
    packets with mean `length`; in it each is lost with probability `loss`.
    """

    apart: Stretch
    """Mean number of packets from the end of a burst to the next."""
    length: Stretch
    """Mean number of packets of a burst."""
    loss: Probability = 1.0
    """Probability that a packet of a burst is lost."""


class HopSpec(Varying, Managed):
    """A FIFO link with a drop-tail, RED or otherwise managed queue.

    `queue` counts the packet in transmission too.

    Outside `bursts` packets are lost with probability `loss`, independently.
    With a `tick` data leaves the far end only at the ticks of a clock, several packets at once, as from a
    delay element that an operating system's clock drives; `tick_phase` is drawn unless given.
    What varies is that of data, see `Varying`; `ack_jitter` is that of acknowledgements.
    """

    rate: Rate
    """Bit rate; not given where a `trace` has it."""
    delay: Delay
    """One-way delay of propagation; not given where a `trace` has it."""
    queue: Queue = 50.0
    """Most packets that wait or are transmitted; or `codel`, `pie`, `fq_codel`."""
    loss: Probability = 0.0
    """Probability that a data packet is lost, independently."""
    bursts: Bursts | None = None
    """Losses of data in bursts, beside the independent ones."""
    ack_loss: Probability = 0.0
    """Probability that an acknowledgement is lost."""
    ack_bursts: Bursts | None = None
    """Losses of acknowledgements in bursts."""
    outages: Outages = Field(default_factory=list)
    """When the hop is down, in both directions: given times, or random by their means."""
    reverse: Reverse = Reverse()
    """What differs in the direction of the acknowledgements."""
    cross_traffic: CrossTraffic | None = None
    """Packets of others in the direction of the data, at a constant bit rate."""
    tick: Interval | None = None
    """Data leaves the far end only at the ticks of a clock with this period, several packets at once."""
    tick_phase: Time | None = None
    """How far that clock is into a tick at time 0; drawn unless given."""
    ack_jitter: Jitter | None = None
    """Random delay of every acknowledgement."""
    red: Red | None = None
    """Random early detection in place of drop-tail."""

    absent: ClassVar = OVERHEAD | AVAILABILITY

    @model_validator(mode="after")
    def _phase_of_a_tick(self) -> Self:
        if self.tick is None and self.tick_phase is not None:
            raise InputError("tick_phase belongs to a tick; give that too, or remove it")
        return self


class Hops(Record):
    """`count` hops, each drawn on its own from `each`."""

    count: Count
    """How many hops."""
    each: HopSpec
    """Every hop draws its own numbers from these."""

    of_each: ClassVar = HopSpec

    @property
    def most_each(self) -> int:
        """The most hops there can be."""
        return int(bounds(self.count)[1])


def _tag(data: Any) -> str:
    several = {"count", "each"} & set(data) if isinstance(data, dict) else isinstance(data, Hops)
    return "<hops>" if several else "<hop>"


AnyHop = Annotated[Annotated[HopSpec, Tag("<hop>")] | Annotated[Hops, Tag("<hops>")], Discriminator(_tag)]


def most_hops(hop: HopSpec | Hops) -> int:
    """How many hops an item of `hops` can be."""
    return hop.most_each if isinstance(hop, Hops) else 1


class Route(Record):
    """A path: hops in tandem from the sender to the receiver.

    With `ecn` hops that mark may mark its data instead of dropping it.
    """

    hops: list[AnyHop] = Field(min_length=1)
    """The links in tandem from the sender to the receiver."""
    ecn: bool | None = None
    """Whether hops that mark may mark data instead of dropping it; they may not unless given."""

    @model_validator(mode="after")
    def _short_enough(self) -> Self:
        most = sum(map(most_hops, self.hops))
        if most > MAX_HOPS:
            raise InputError(f"hops can be {most}; allowed is 1 to {MAX_HOPS}; lower a count")
        return self


def every_hop(routes: Iterable[Route]) -> Iterator[HopSpec]:
    """The hops of paths; those of a count once."""
    for route in routes:
        for hop in route.hops:
            yield hop.each if isinstance(hop, Hops) else hop
