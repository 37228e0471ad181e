"""Run one row and read the counters."""

from itertools import chain

import numpy as np
from numpy.typing import NDArray

from netcarlo.kernels.base.classes import ClassOut
from netcarlo.kernels.base.delays import DelayOut
from netcarlo.kernels.base.layout import STATUS_OK
from netcarlo.kernels.wireless.layout import (
    FlowOut,
    Radio,
    WifiOut,
    WifiRows,
    arrival_classes,
    delay_classes,
)
from tests.twins.shared.delays import Gauge
from tests.twins.wireless.clock import Phase
from tests.twins.wireless.world import World

PREFIX = "wifi_"
OPTIONS = "_arrivals", "_delays", "_varying", "_edca"


def simulate(model: str, rows: WifiRows, *, row: int = 0) -> NDArray[np.int64]:
    """Return the outcomes of one row of `rows` under `model` (a name in `kernels.models`), as `launch.run`
    does.
    """
    protocol = model.removeprefix(PREFIX)
    for option in OPTIONS:
        protocol = protocol.replace(option, "")
    world = World(rows, row, protocol=protocol)
    run(world)
    most_flows = int(rows.parameters[:, Radio.FLOWS].max())
    most_nodes = rows.nodes.shape[1]
    first_node = WifiOut.COLUMNS + most_flows * FlowOut.COLUMNS
    first_class = first_node + most_nodes * rows.node_columns
    first_gauge = first_class + arrival_classes(rows) * ClassOut.COLUMNS
    vector = np.zeros(first_gauge + delay_classes(rows) * DelayOut.COLUMNS, np.int64)
    vector[WifiOut.STATUS] = STATUS_OK
    vector[WifiOut.EVENTS] = world.channel.frames
    flows = [flow.outcomes.columns(in_flight=world.in_flight(flow)) for flow in world.flows]
    nodes = [station.columns_out() for station in world.stations]
    classes = [one.values() for one in world.classes]
    gauges = [gauge.values() for gauge in gauges_of(world)]
    tables = (WifiOut.COLUMNS, flows), (first_node, nodes), (first_class, classes), (first_gauge, gauges)
    for first, columns in tables:
        values = list(chain.from_iterable(columns))
        vector[first : first + len(values)] = values
    return vector


def gauges_of(world: World) -> list[Gauge]:
    """Return the delay statistics of the classes."""
    found = [Gauge(warm_up=world.radio.WARM_UP) for _ in range(world.radio.DELAY_CLASSES)]
    for flow in world.flows:
        if flow.columns.DELAY_CLASS:
            found[flow.columns.DELAY_CLASS - 1].take(flow.outcomes.all_arrivals, flow.columns.BOUND)
    return found


def run(world: World) -> None:
    """Run from 0 to END. Transmissions start after all other events of the same time, and simultaneously."""
    simulation, end = world.simulation, world.p.END
    simulation.at(world.radio.WARM_UP, Phase.WARM_UP, warm_up_ends, world, order=(0,))  # type: ignore[arg-type]
    time = 0
    while time <= end:
        start = min(station.next_start() for station in world.stations)
        other = simulation.next_time()
        until = min(start, other, end)
        for station in world.stations:
            station.pass_time(until - time)
        time = min(start, other)
        if time > end:
            break
        if other <= start:
            simulation.step()
        else:
            simulation.now = start
            world.channel.start([station for station in world.stations if station.next_start() == start])
        world.settle()


def warm_up_ends(world: World) -> None:
    """Reset the counters."""
    for station in world.stations:
        station.reset_outcomes()
    for flow in world.flows:
        flow.outcomes.reset(in_flight=world.in_flight(flow))
