"""Extents of ad hoc scenarios, for comparison with the validated range."""

from netcarlo.networks.adhoc.description import Adhoc, SpeedRange
from netcarlo.networks.extent import Compared, extent_of, known, name_of, of_frames, of_sender
from netcarlo.networks.run import Run


def compared(run: Run, adhoc: Adhoc) -> Compared:
    """Return mobility model and extents of an ad hoc scenario, for its protocol."""
    speed = getattr(adhoc.mobility, "speed", None)
    found = known(
        nodes=extent_of(adhoc.all_nodes),
        range=extent_of(adhoc.range),
        side=extent_of(*adhoc.sides),
        speed=extent_of(speed.min, speed.max) if isinstance(speed, SpeedRange) else extent_of(speed),
        queue=of_frames(adhoc.radio.queue, run.transport),
        frame_error=extent_of(adhoc.frame_error),
        residual_error=extent_of(adhoc.residual_error),
        ack_loss=extent_of(adhoc.ack_error),
    )
    network = f"ad hoc networks ({adhoc.mobility.model.replace('_', ' ')})"
    return Compared(network, {name_of(run.transport): found | of_sender(run.transport)})
