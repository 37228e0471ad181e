"""Service of hops and links as users write it: framing, a trace, jitter, a policer, a shaper."""

from typing import Annotated, Any, ClassVar, Self

from pydantic import SerializerFunctionWrapHandler, model_serializer, model_validator

from netcarlo.errors import InputError
from netcarlo.networks.framing import Framed
from netcarlo.networks.jitter import Jitter
from netcarlo.networks.shaper import Shaper
from netcarlo.networks.traces import AnyTrace, Trace, trace
from netcarlo.networks.traffic import whole_ns, wire_ns
from netcarlo.schema import units
from netcarlo.schema.quantity import Number, Quantity
from netcarlo.schema.record import Record


class Policer(Record):
    """Policer: a token bucket for data before the queue. Data above `rate` by more than a `burst` are
    dropped."""

    rate: Annotated[Number, Quantity(units.RATE, 100.0, 1e12)]
    """Long-term rate of the token bucket."""
    burst: Annotated[Number, Quantity(units.SIZE, 1.0, 1e12)]
    """Size of the token bucket; data above it are dropped."""


class Service(Framed):
    """Time-varying rate, delay and loss of a link, from a `trace`; the loss is added to other losses.

    With `repeat` the trace starts again at its end. `jitter` is drawn for every packet; packets keep their
    order unless it has `reorder`. Columns of the trace must not be given as fields as well; `rate` and
    `delay` are then their means.
    """

    trace: AnyTrace | None = None
    """Trace of rate, delay and loss over time; a folder or `choice` gives one to each replication. Default:
    constant."""
    repeat: bool | None = None
    """True if the trace starts again at its end; otherwise the run must not last longer than the trace."""
    jitter: Jitter | None = None
    """Random delay of each data packet; packets keep their order unless it has `reorder`."""
    policer: Policer | None = None
    """Policer: a token bucket for data before the queue."""
    shaper: Shaper | None = None
    """Shaper: a token bucket for data at the head of the queue. Default: none."""

    implied: ClassVar = frozenset(("rate", "delay"))

    @model_validator(mode="before")
    @classmethod
    def _means_of_a_trace(cls, data: Any) -> Any:
        if not isinstance(data, dict) or data.get("trace") is None:
            return data
        try:
            given = trace(data["trace"])
        except InputError:  # the error of the trace is reported by its own field
            return {"rate": "1 Mbit/s", "delay": "1 ms"} | data
        means = {}
        for name, unit in (("rate", units.RATE), ("delay", units.TIME)):
            if (mean := given.mean(name)) is not None:
                if data.get(name) is not None:
                    raise InputError(f"{name} is also a column of the trace; remove one of them")
                means[name] = units.show(mean, unit)
        return means | {name: value for name, value in data.items() if value is not None or name not in means}

    @model_validator(mode="after")
    def _repeat_of_a_trace(self) -> Self:
        if self.trace is None and self.repeat is not None:
            raise InputError("repeat needs a trace; add a trace, or remove repeat")
        return self

    @model_serializer(mode="wrap")
    def _without_means(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        written: dict[str, Any] = handler(self)
        for name in ("rate", "delay"):
            if self.trace is not None and self.trace.mean(name) is not None:
                written.pop(name, None)
        return written

    @property
    def varies(self) -> str:
        """First field that makes the service of the link vary from packet to packet; empty if there is
        none."""
        return self.unlike_fluid or ("overhead" if self.is_framed else "")

    @property
    def unlike_fluid(self) -> str:
        """First of these fields that fluid models do not know, which do know framing; empty if there is
        none."""
        names = ("trace", "jitter", "policer", "shaper", "loss_correlation", "ack_loss_correlation")
        return next((name for name in names if getattr(self, name, None) is not None), "")


def min_transit_ns(line: Any, size: float) -> int:
    """Return the minimum time of a packet of `size` bytes on a hop or link [ns], rounded as in the
    kernels."""
    if line.trace is None:
        return wire_ns(line.rate, size) + whole_ns(line.delay)
    return min(_fastest(one, line, size) for one in line.trace.members)


def _fastest(given: Trace, line: Any, size: float) -> int:
    """Return the minimum time of a packet on a link with this trace [ns]."""
    if given.packets is not None:
        return 1 + whole_ns(line.delay)
    columns = given.columns
    on_wire = wire_ns(max(columns["rate"]) if "rate" in columns else line.rate, size)
    return on_wire + whole_ns(min(columns["delay"]) if "delay" in columns else line.delay)
