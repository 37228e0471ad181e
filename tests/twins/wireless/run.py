"""Run one row and read the counters."""

from itertools import chain

import numpy as np
from numpy.typing import NDArray

from netcarlo.kernels.base.layout import STATUS_OK
from netcarlo.kernels.wireless.layout import FlowOut, NodeOut, Radio, WifiOut, WifiRows
from tests.twins.wireless.clock import Phase
from tests.twins.wireless.world import World

PREFIX = "wifi_"


def simulate(model: str, rows: WifiRows, *, row: int = 0) -> NDArray[np.int64]:
    """The outcomes of one row of `rows` under `model` (a name in `kernels.models`), as of `launch.run`."""
    world = World(rows, row, protocol=model.removeprefix(PREFIX))
    run(world)
    most_flows = int(rows.parameters[:, Radio.FLOWS].max())
    most_nodes = rows.nodes.shape[1]
    vector = np.zeros(WifiOut.COLUMNS + most_flows * FlowOut.COLUMNS + most_nodes * NodeOut.COLUMNS, np.int64)
    vector[WifiOut.STATUS] = STATUS_OK
    vector[WifiOut.EVENTS] = world.channel.frames
    flows = [flow.outcomes.columns(in_flight=world.in_flight(flow)) for flow in world.flows]
    nodes = [station.outcomes.columns(in_queue=len(station.queue)) for station in world.stations]
    for first, columns in ((WifiOut.COLUMNS, flows), (WifiOut.COLUMNS + most_flows * FlowOut.COLUMNS, nodes)):
        values = list(chain.from_iterable(columns))
        vector[first : first + len(values)] = values
    return vector


def run(world: World) -> None:
    """From 0 to END; at equal times transmissions start last, and all at once."""
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


def warm_up_ends(world: World) -> None:
    """What was counted until now is forgotten."""
    for station in world.stations:
        station.outcomes.reset(in_queue=len(station.queue))
    for flow in world.flows:
        flow.outcomes.reset(in_flight=world.in_flight(flow))
