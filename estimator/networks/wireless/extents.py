"""Extents of 802.11 scenarios, for comparison with the validated range."""

from netcarlo.networks.extent import (
    Compared,
    Extent,
    Extents,
    extent_of,
    known,
    merged,
    of_frames,
    of_sender,
    senders,
)
from netcarlo.networks.run import Run
from netcarlo.networks.wireless.description import LAYOUTS, FlowSpec, Wireless


def compared(run: Run, wireless: Wireless) -> Compared:
    """Return layout and extents of an 802.11 scenario, for each protocol of its flows."""
    common = known(
        stations=Extent(wireless.least_stations, wireless.most_stations),
        hops=None if wireless.chain is None else extent_of(wireless.chain.hops),
        phy_rate=extent_of(*(wireless.known_rates if wireless.rate_control != "fixed" else ()),
                           *wireless.first_rates),
        frame_error=extent_of(*wireless.frame_errors),
        queue=of_frames(wireless.queue, run.transport),
    )  # fmt: skip
    if wireless.chain is not None:
        del common["stations"]
    found: dict[str, list[Extents]] = {}
    flows = [flow for _, flow in wireless.each_flow()] or [FlowSpec()]
    for name, sender, flow in senders(flows, run.transport):
        found.setdefault(name, []).append(of_sender(sender, flow))
    return Compared(_network(wireless), {name: common | merged(each) for name, each in found.items()})


def _network(wireless: Wireless) -> str:
    layout = next(name for name in LAYOUTS if getattr(wireless, name) is not None)
    layout = {"cell": "cells", "chain": "chains", "tree": "trees", "area": "areas"}.get(layout, layout)
    hidden = " with hidden nodes" if wireless.reach is not None else ""
    control = "" if wireless.rate_control == "fixed" else f" with {wireless.rate_control}"
    edca = " with EDCA" if wireless.has_edca else ""
    return f"802.11 {layout}{hidden}{control}{edca}"
