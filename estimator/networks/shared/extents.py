"""Extents of scenarios over shared links, for comparison with the validated range."""

from netcarlo.networks.extent import (
    Compared,
    Extent,
    Extents,
    drop_tail,
    extent_of,
    in_flight,
    known,
    merged,
    of_sender,
    path_capacity,
    senders,
    varying,
)
from netcarlo.networks.run import Run
from netcarlo.networks.shared.description import FlowSpec, Line, SharedSpec
from netcarlo.schema.quantity import bounds


def compared(run: Run, shared: SharedSpec) -> Compared:
    """Return the extents of a scenario over these links, for each protocol of its flows."""
    lines = _forward(shared)
    common = known(
        flows=Extent(*shared.flow_bounds),
        cables=Extent(shared.least_cables, shared.most_cables),
        queue=drop_tail(lines),
        rate=extent_of(*(line.rate for line in lines)),
        delay=extent_of(*(line.delay for line in lines)),
        loss=extent_of(*(line.loss for line in lines)),
    ) | varying(line for _, line in shared.each_line())
    found: dict[str, list[Extents]] = {}
    for name, sender, flow in senders((flow for _, flow in shared.each_flow()), run.transport):
        own = of_sender(sender, flow)
        found.setdefault(name, []).append(in_flight(own, _room(shared, flow, own["payload"])))
    return Compared("shared links", {name: common | merged(each) for name, each in found.items()})


def _room(shared: SharedSpec, flow: FlowSpec, payload: Extent) -> Extent:
    """Return the number of packets that the route of a flow holds, from one link to all of them in a row."""
    lines = [[bounds(number) for number in (line.rate, line.delay, line.queue)] for line in _forward(shared)]
    rate, delay, queue = (
        Extent(min(line[k][0] for line in lines), max(line[k][1] for line in lines)) for k in range(3)
    )
    access = flow.access or shared.access
    ends = [bounds(access.source_delay), bounds(access.sink_delay)]
    least, most = (sum(end[k] for end in ends) for k in (0, 1))
    rtt = Extent(2 * (delay.low + least), 2 * (delay.high * shared.most_cables + most))
    return path_capacity(rate, rtt, queue, payload)


def _forward(shared: SharedSpec) -> list[Line]:
    """Return the links in the direction of the data."""
    lines = [line for name, line in shared.each_line() if not name.endswith(".reverse")]
    return [line for line in lines if isinstance(line, Line)]
