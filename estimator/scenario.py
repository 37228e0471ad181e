"""A scenario: a transport over paths of hops, or over a wireless, ad hoc or shared network, all checked.

Any number may be a distribution, so a randomised topology is a scenario like any other.
"""

import copy
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import Discriminator, Field, SerializeAsAny, Tag, model_validator
from pydantic_core import PydanticCustomError

from netcarlo.errors import InputError
from netcarlo.kernels.shared.layout import MOST_FLOWS
from netcarlo.networks.adhoc.description import Adhoc
from netcarlo.networks.path.mobility import Mobility
from netcarlo.networks.shared.description import TCPS, Shared
from netcarlo.networks.shared.description import kinds as shared_kinds
from netcarlo.networks.wireless.description import Wireless
from netcarlo.schema import document as files
from netcarlo.schema import kinds
from netcarlo.schema.quantity import (
    Count,
    Delay,
    Duration,
    Interval,
    Load,
    Payload,
    Precision,
    Probability,
    Queue,
    Rate,
    Time,
    bounds,
)
from netcarlo.schema.record import Record
from netcarlo.simulation.workload import check_time_passes
from netcarlo.transport.congestion import NAMES, locate
from netcarlo.transport.tcp import (
    FAMILIES,
    PROTOCOLS,
    AnyTransport,
    Sctp,
    Tcp,
    Vegas,
    check_protocol,
    short_form,
)

MAX_HOPS = 64
"""Most hops of a path."""

LONGEST_NAME = 1000
"""Most characters of the dotted name of a field."""


class Outage(Record):
    """A hop is down, in both directions, from `start` for `duration`; one of length 0 is none."""

    start: Time
    duration: Time


class Reverse(Record):
    """What differs in the direction of the acknowledgements; as forward unless given."""

    rate: Rate | None = None
    delay: Delay | None = None
    queue: Queue | None = None


class CrossTraffic(Record):
    """Packets of others at a constant bit rate, in the direction of the data; rate 0 is none."""

    rate: Load
    packet: Payload = 1000.0

    @model_validator(mode="after")
    def _bearable(self) -> Self:
        if bounds(self.rate)[1] > 8e6 * bounds(self.packet)[0]:
            raise InputError("rate can be above a packet per microsecond; lower it or raise packet")
        return self


class Hop(Record):
    """A FIFO link with a drop-tail queue; `queue` counts the packet in transmission too.

    With a `tick` data leaves the far end only at the ticks of a clock, several packets at once, as from a
    delay element that an operating system's clock drives; `tick_phase` is drawn unless given.
    """

    rate: Rate
    delay: Delay
    queue: Queue = 50.0
    loss: Probability = 0.0
    ack_loss: Probability = 0.0
    outages: list[Outage] = Field(default_factory=list)
    reverse: Reverse = Reverse()
    cross_traffic: CrossTraffic | None = None
    tick: Interval | None = None
    tick_phase: Time | None = None

    @model_validator(mode="after")
    def _phase_of_a_tick(self) -> Self:
        if self.tick is None and self.tick_phase is not None:
            raise InputError("tick_phase belongs to a tick; give that too, or remove it")
        return self


class Hops(Record):
    """`count` hops, each drawn on its own from `each`."""

    count: Count
    each: Hop


def _tag(data: Any) -> str:
    several = {"count", "each"} & set(data) if isinstance(data, dict) else isinstance(data, Hops)
    return "<hops>" if several else "<hop>"


AnyHop = Annotated[Annotated[Hop, Tag("<hop>")] | Annotated[Hops, Tag("<hops>")], Discriminator(_tag)]


def most_hops(hop: Hop | Hops) -> int:
    """How many hops an item of `hops` can be."""
    return int(bounds(hop.count)[1]) if isinstance(hop, Hops) else 1


class Route(Record):
    """A path: hops in tandem from the sender to the receiver."""

    hops: list[AnyHop] = Field(min_length=1)

    @model_validator(mode="after")
    def _short_enough(self) -> Self:
        most = sum(map(most_hops, self.hops))
        if most > MAX_HOPS:
            raise InputError(f"hops can be {most}; allowed is 1 to {MAX_HOPS}; lower a count")
        return self


class Scenario(Record):
    """What to simulate.  `duration` is when the observation ends; time 0 is its beginning.

    One of `paths`, a `wireless`, an `adhoc` and a `shared` network.  Outcomes of wireless and shared networks
    count from `warm_up` on.

    With `fidelity: fluid` or `formula` a cheap approximation answers in place of the simulation of packets.

    Scenarios of the same seed and `topology` meet the same random numbers, others independent ones.

    With `precision`, replications are added until the half-width of the 95 % interval of the
    goodput is that fraction of its mean; else there are `replications` of them.
    """

    name: str = "scenario"
    description: str = ""
    duration: Duration
    warm_up: Time | None = None
    seed: int = Field(default=1, ge=0, lt=2**63)
    topology: int = Field(default=0, ge=0, lt=2**32)
    replications: int = Field(default=1000, ge=1, le=10_000_000)
    precision: Precision | None = None
    sample_interval: Interval = 0.1
    transport: SerializeAsAny[AnyTransport]
    mobility: Mobility | None = None
    paths: list[Route] = Field(default_factory=list, max_length=2)
    wireless: Wireless | None = None
    adhoc: Adhoc | None = None
    shared: Shared | None = None
    fidelity: Literal["packet", "fluid", "formula"] = "packet"

    @model_validator(mode="before")
    @classmethod
    def _in_full(cls, data: Any) -> Any:
        if not isinstance(data, dict):
            return data
        data = in_full(data)
        transport = data.get("transport")
        if isinstance(transport, dict):
            protocol = transport.get("protocol")
            text = "is missing; write protocol: newreno"
            if protocol is not None:
                given = [name for name in FAMILIES if data.get(name) not in (None, [])]
                text = check_protocol(str(protocol), (given or ["paths"])[0])
                if len(given) > 1 and protocol in PROTOCOLS:  # that is said first
                    text = ""
            if text:
                problem = {"field": "transport.protocol", "value": protocol, "text": text}
                raise PydanticCustomError("unknown_choice", "{text}", problem)
        return data

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if bounds(self.transport.start)[1] >= bounds(self.duration)[0]:
            raise InputError("transport.start can be at or after the end; lower it or raise duration")
        if len(self.paths) > 1 and not isinstance(self.transport, Sctp):
            raise InputError("paths are two, and only sctp uses two; remove one or write protocol: sctp")
        return self

    @model_validator(mode="after")
    def _has_network(self) -> Self:
        names = ("paths", "wireless", "adhoc", "shared")
        given = [name for name in names if getattr(self, name)]
        if not given:
            missing = "paths, wireless, adhoc and shared are all missing"
            raise InputError(f"{missing}; write hops:, wireless:, adhoc: or shared:")
        if len(given) > 1:
            raise InputError(f"{given[1]} and {given[0]} are both given; remove one")
        if self.mobility is not None and given != ["paths"]:
            raise InputError(f"{given[0]} and mobility are both given; remove one")
        if text := check_protocol(self.transport.protocol, given[0]):  # a record, not data
            raise InputError(f"transport.protocol = {self.transport.protocol} {text}")
        if self.warm_up is None:
            return self
        if not (self.wireless or self.shared):
            remedy = "write adhoc.mobility.warm_up" if self.adhoc else "remove it"
            raise InputError(f"warm_up is for wireless and shared networks; {remedy}")
        if bounds(self.warm_up)[1] >= bounds(self.duration)[0]:
            raise InputError("warm_up can be at or after the end; lower it or raise duration")
        return self

    @model_validator(mode="after")
    def _takes_time(self) -> Self:
        check_time_passes(self)
        return self

    @model_validator(mode="after")
    def _can_share(self) -> Self:
        if self.shared is None:
            return self
        kinds = shared_kinds(self.shared, self.transport)
        if wrong := kinds - set(TCPS):
            allowed = f"allowed is {', '.join(TCPS)}"
            raise InputError(f"transport cannot be {min(wrong)} in a shared network; {allowed}")
        most = self.shared.most_flows
        if self.fidelity == "packet" and most > MOST_FLOWS:
            remedy = "lower a count, or write fidelity: fluid"
            raise InputError(f"shared.flows can be {most}; allowed is 1 to {MOST_FLOWS}; {remedy}")
        return self

    @model_validator(mode="after")
    def _can_move(self) -> Self:
        if self.mobility is None:
            return self
        if not isinstance(self.transport, Tcp):
            raise InputError("mobility is for the TCPs; write protocol: newreno, or remove mobility")
        hops = self.paths[0].hops
        if len(hops) < 2 or not isinstance(hops[-1], Hop):
            remedy = "add one; it may not be part of a count"
            raise InputError(f"mobility needs two hops or more, the last of them the radio link; {remedy}")
        if hops[-1].outages:
            remedy = "write the handovers under mobility and remove these"
            raise InputError(f"mobility needs a last hop without outages; {remedy}")
        if hops[-1].tick is not None:
            raise InputError("mobility needs a last hop without a tick; move it to a hop before that")
        self.mobility.most_handovers(bounds(self.duration)[1])
        return self

    def with_values(self, values: Mapping[str, Any]) -> "Scenario":
        """A copy with fields, named as in `transport.window` or `hops.0.delay`, set to YAML values."""
        data = self.model_dump(mode="json", exclude_none=True)
        short = short_form(self.transport)
        data["transport"] = {k: v for k, v in {**data["transport"], **short}.items() if v is not None}
        return Scenario.check(with_values(data, values))


def in_full(data: dict[str, Any]) -> dict[str, Any]:
    """The data of a scenario with the shorthand `hops:` written as one path."""
    if "hops" not in data:
        return data
    if "paths" in data:
        raise InputError("hops and paths are both given; keep one")
    return {
        ("paths" if key == "hops" else key): ([{"hops": v}] if key == "hops" else v)
        for key, v in data.items()
    }


def with_values(data: dict[str, Any], values: Mapping[str, Any]) -> dict[str, Any]:
    """The data of a scenario with the fields of dotted names set to YAML values.

    A `*` stands for every item of a list, as in `paths.*.hops.*.rate`.  Raises InputError where a name
    leads nowhere.
    """
    data = copy.deepcopy(in_full(data))
    every = [(full, value) for name, value in values.items() for full in full_names(data, name)]
    for name, value in every:
        parts = name.split(".")
        at: Any = data
        for i, part in enumerate(parts):
            last = i == len(parts) - 1
            if isinstance(at, list):
                if not part.isdecimal() or int(part) >= len(at):
                    raise InputError(f"{name}: there is no '{part}'; allowed is 0 to {len(at) - 1}")
                key: Any = int(part)
            elif isinstance(at, dict):
                key = part
            else:
                raise InputError(f"{name}: '{parts[i - 1]}' has no fields; set it as a whole")
            if last:
                at[key] = value
            else:
                at = at.setdefault(key, {}) if isinstance(at, dict) else at[key]
    return data


def full_names(data: Mapping[str, Any], name: str) -> list[str]:
    """The dotted names that a name stands for: `hops` is short for `paths.0.hops`, and `*` is every item."""
    parts = [part for part in re.split(r"[.\[\]]", name) if part]
    if not parts:
        raise InputError("a field to set has no name; write it as transport.window")
    if len(name) > LONGEST_NAME:
        raise InputError(f"a field has a name of {len(name)} characters; allowed is 1 to {LONGEST_NAME}")
    found: list[tuple[list[str], Any]] = [([], data)]
    for part in [*(["paths", "0"] if parts[0] == "hops" else []), *parts]:
        deeper = []
        for names, at in found:
            items = at if isinstance(at, list) else []
            for key in map(str, range(len(items))) if part == "*" else [part]:
                inside = items[int(key)] if key.isdecimal() and int(key) < len(items) else None
                deeper.append(([*names, key], at.get(key) if isinstance(at, dict) else inside))
        found = deeper
    if not found:
        raise InputError(f"{name}: there is no list for '*'; name the field as a whole")
    return [".".join(names) for names, _ in found]


def load_scenario(path: str | Path, *, values: Mapping[str, Any] | None = None) -> Scenario:
    """Read a scenario from a YAML file and set the fields in `values` (see `Scenario.with_values`).

    A congestion control file is looked up in the folder of the scenario, and must be trusted, see
    `control.locate`.  Raises InputError with file and line.
    """
    document = kinds.read(path, kinds.SCENARIO)
    try:
        data = with_values(document.data, values or {})
    except InputError as error:
        raise InputError(f"{path}: {error}") from None
    data.setdefault("name", files.title(path))
    transport = data.get("transport")
    control = transport.get("congestion_control") if isinstance(transport, dict) else None
    if isinstance(transport, dict) and isinstance(control, str) and control not in NAMES:
        transport["congestion_control"] = str(locate(control, Path(path)))
    return Scenario.check(data, document=document)


__all__ = [
    "CrossTraffic",
    "Hop",
    "Hops",
    "Outage",
    "Reverse",
    "Route",
    "Scenario",
    "Sctp",
    "Tcp",
    "Vegas",
    "load_scenario",
]
