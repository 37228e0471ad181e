"""Extents of scenarios over shared links, for comparison with the validated range."""

from netcarlo.networks.extent import (
    Compared,
    Extent,
    Extents,
    drop_tail,
    extent_of,
    features,
    hull,
    in_flight,
    in_packets,
    known,
    merged,
    of_sender,
    path_capacity,
    senders,
)
from netcarlo.networks.run import Run
from netcarlo.networks.shared.description import Access, FlowSpec, Line, SharedSpec
from netcarlo.schema.quantity import bounds


def compared(run: Run, shared: SharedSpec) -> Compared:
    """Return the extents of a scenario over these links, for each protocol of its flows."""
    lines, own = _forward(shared), of_sender(run.transport)
    rate = hull(Extent(*bounds(line.rate)) for line in lines) or Extent(0.0, 0.0)
    common = known(
        flows=Extent(*shared.flow_bounds),
        cables=Extent(shared.least_cables, shared.most_cables),
        queue=drop_tail(lines, rate, _round_trip(shared, shared.access), own["payload"]),
        rate=extent_of(*(line.rate for line in lines)),
        delay=extent_of(*(line.delay for line in lines)),
        loss=extent_of(*(line.loss for line in lines)),
    ) | features(line for _, line in shared.each_line())
    found: dict[str, list[Extents]] = {}
    for name, sender, flow in senders((flow for _, flow in shared.each_flow()), run.transport):
        own = of_sender(sender, flow)
        found.setdefault(name, []).append(in_flight(own, _room(shared, flow, own["payload"])))
    return Compared("shared links", {name: common | merged(each) for name, each in found.items()})


def _room(shared: SharedSpec, flow: FlowSpec, payload: Extent) -> Extent:
    """Return the number of packets that the route of a flow holds, from one link to all of them in a row."""
    lines = _forward(shared)
    rtt = _round_trip(shared, flow.access or shared.access)
    rate = hull(Extent(*bounds(line.rate)) for line in lines) or Extent(0.0, 0.0)
    queue = hull(in_packets(line.queue, rate, rtt, payload) for line in lines) or Extent(0.0, 0.0)
    return path_capacity(rate, rtt, queue, payload)


def _round_trip(shared: SharedSpec, access: Access) -> Extent:
    """Return the propagation delay from a host and back, over one link to all of them in a row."""
    delays = [bounds(line.delay) for line in _forward(shared)]
    ends = [bounds(access.source_delay), bounds(access.sink_delay)]
    least, most = (sum(end[k] for end in ends) for k in (0, 1))
    low, high = min(delay[0] for delay in delays), max(delay[1] for delay in delays)
    return Extent(2 * (low + least), 2 * (high * shared.most_cables + most))


def _forward(shared: SharedSpec) -> list[Line]:
    """Return the links in the direction of the data."""
    lines = [line for name, line in shared.each_line() if not name.endswith(".reverse")]
    return [line for line in lines if isinstance(line, Line)]
