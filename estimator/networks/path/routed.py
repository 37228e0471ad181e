"""Common parts of networks of paths, for both engines that simulate them."""

import copy
from collections.abc import Callable, Iterator, Mapping
from typing import Any, ClassVar

from netcarlo.networks.extent import Compared
from netcarlo.networks.family import Fidelity, Network, Speed
from netcarlo.networks.path import extents, finite, outcomes, rows, workload
from netcarlo.networks.path.description import Hops, Route, every_hop
from netcarlo.networks.path.ignored_fields import IGNORED_FIELDS
from netcarlo.networks.path.mobility import Mobility
from netcarlo.networks.path.phrase import count_of, phrase
from netcarlo.networks.repeated import moved
from netcarlo.networks.run import Run
from netcarlo.numerics.arrays import Floats
from netcarlo.schema.draws import Draws
from netcarlo.schema.quantity import Duration, Number


class Routed(Network):
    """A network of one path or two; `PathNetwork.of` creates it."""

    key = "paths"
    speed = Speed(1e8, 4e9, 2.0)
    written = "hops"
    family = "path"
    outcomes: ClassVar = outcomes.OUTCOMES
    ignored_fields = IGNORED_FIELDS
    no_warm_up = "remove it"
    one_flow = True

    routes: list[Route]
    mobility: Mobility | None
    duration: Duration
    messages: bool
    """True if the application sends messages."""

    @property
    def has_outages(self) -> bool:
        """True if a hop can go down."""
        return any(hop.outages for hop in every_hop(self.routes))

    @property
    def has_bottleneck(self) -> bool:
        """True for one path to a fixed host."""
        return len(self.routes) == 1 and self.mobility is None

    def queues(self) -> Iterator[tuple[str, Number]]:
        """Yield the limits of the hops."""
        for i, route in enumerate(self.routes):
            for k, hop in enumerate(route.hops):
                name = f"paths.{i}.hops.{k}"
                if isinstance(hop, Hops):
                    yield f"{name}.each.queue", hop.each.queue
                else:
                    yield f"{name}.queue", hop.queue

    def phrase(self, run: Run) -> str:
        """Return the transport, the hops of the paths and the mobile host."""
        return f"{run.transport.traffic} over {phrase(self.routes, self.mobility)}"

    def population(self, run: Run) -> tuple[str, str]:
        """Return network and protocol in the data of measured bias: paths with or without outages, mobile
        hosts, or finite transfers of today's Linux."""
        protocol: str = run.transport.biased_as
        if self.mobility is not None:
            return f"mobile {self.mobility.protocol}", protocol
        several = f"{count_of(len(self.routes))} paths" if len(self.routes) > 1 else ""
        if self.has_outages:
            return f"{several} with outages" if several else "outages", protocol
        ends = run.transport.bytes is not None or run.transport.packets is not None
        if ends and protocol in finite.KINDS:
            return "transfers", protocol
        return several or "paths", protocol

    def compared(self, run: Run) -> Compared:
        """Return the extents: of one path, of several, or of a path to a mobile host."""
        return extents.compared(run, self.routes, mobile=self.mobility is not None)

    def features(self, run: Run, draws: Draws, rows_of: Callable[[], Any]) -> dict[str, Floats]:
        """Return features of the first path."""
        return rows.features(self.routes, self.mobility, run, draws)

    def packets(self, run: Run, fidelity: Fidelity) -> float:
        """Return the approximate number of packets by windows and rates, and cross traffic."""
        return workload.packets(self.routes, run, fluid=fidelity == "fluid")

    # Fields.

    def written_out(self, data: dict[str, Any], given: Mapping[str, float]) -> dict[str, str]:
        """Write each hop of a count separately."""
        source = {name: name for name in given if ".hops." not in name}
        for p, route in enumerate(self.routes):
            written = data["paths"][p]["hops"]
            explicit: list[Any] = []
            data["paths"][p]["hops"] = explicit
            for h, hop in enumerate(route.hops):
                old = f"paths.{p}.hops.{h}"
                if not isinstance(hop, Hops):
                    source |= moved(given, f"{old}.", f"paths.{p}.hops.{len(explicit)}.")
                    explicit.append(written[h])
                    continue
                for k in range(int(given.get(f"{old}.count", hop.count))):  # type: ignore[arg-type]
                    new = f"paths.{p}.hops.{len(explicit)}."
                    source |= moved(given, f"{old}.each.", new) | moved(given, f"{old}.each.{k}.", new)
                    explicit.append(copy.deepcopy(written[h]["each"]))
        return source
