"""What changes on a hop or link from packet to packet, as users write it: a trace, jitter, a policer."""

from typing import Annotated, Any, ClassVar, Self

from pydantic import SerializerFunctionWrapHandler, model_serializer, model_validator

from netcarlo.errors import InputError
from netcarlo.networks.jitter import Jitter
from netcarlo.networks.traces import Trace, trace
from netcarlo.networks.traffic import whole_ns, wire_ns
from netcarlo.schema import units
from netcarlo.schema.quantity import Number, Quantity
from netcarlo.schema.record import Record


class Policer(Record):
    """A token bucket before the queue, for data: what exceeds `rate` by more than a `burst` is dropped."""

    rate: Annotated[Number, Quantity(units.RATE, 100.0, 1e12)]
    """What may pass in the long run."""
    burst: Annotated[Number, Quantity(units.SIZE, 1.0, 1e12)]
    """What may exceed that at once; more is dropped."""


class Varying(Record):
    """Rate, delay and loss may be those of a `trace`, which begins again at its end if it is to `repeat`; its
    loss comes on top of the others.  A `jitter` is drawn for every packet; none overtakes another,
    unless it says so.

    What stands in the trace is not written beside it: rate and delay are then their means.
    """

    trace: Trace | None = None
    """Rate, delay and loss over time: a file, or its text."""
    repeat: bool | None = None
    """Whether the trace begins again at its end; otherwise the run may not go on beyond it."""
    jitter: Jitter | None = None
    """Random delay of every data packet; none overtakes another unless it says `reorder`."""
    policer: Policer | None = None
    """A token bucket for data before the queue."""

    implied: ClassVar = frozenset(("rate", "delay"))

    @model_validator(mode="before")
    @classmethod
    def _means_of_a_trace(cls, data: Any) -> Any:
        if not isinstance(data, dict) or data.get("trace") is None:
            return data
        try:
            given = trace(data["trace"])
        except InputError:  # that the error is that of the trace
            return {"rate": "1 Mbit/s", "delay": "1 ms"} | data
        means = {}
        for name, unit in (("rate", units.RATE), ("delay", units.TIME)):
            if (mean := given.mean(name)) is not None:
                if data.get(name) is not None:
                    raise InputError(f"{name} stands in the trace, too; remove one of them")
                means[name] = units.show(mean, unit)
        return means | {name: value for name, value in data.items() if value is not None or name not in means}

    @model_validator(mode="after")
    def _repeat_of_a_trace(self) -> Self:
        if self.trace is None and self.repeat is not None:
            raise InputError("repeat belongs to a trace; give that too, or remove it")
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
        """The first field with what varies; empty without."""
        names = ("trace", "jitter", "policer")
        return next((name for name in names if getattr(self, name) is not None), "")


def min_transit_ns(line: Any, size: float) -> int:
    """The least time of a packet of `size` bytes on a hop or link, as kernels round it [ns]."""
    given = line.trace
    if given is not None and given.packets is not None:
        return 1 + whole_ns(line.delay)
    columns = {} if given is None else given.columns
    on_wire = wire_ns(max(columns["rate"]) if "rate" in columns else line.rate, size)
    return on_wire + whole_ns(min(columns["delay"]) if "delay" in columns else line.delay)
