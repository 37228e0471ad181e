"""The values that an ad hoc scenario reaches, for the comparison with the validated range."""

from netcarlo.networks.adhoc.description import Adhoc, SpeedRange
from netcarlo.networks.extent import Compared, known, name_of, of_sender, over
from netcarlo.networks.run import Run


def compared(run: Run, adhoc: Adhoc) -> Compared:
    """Return what an ad hoc scenario is compared as: how its nodes move, and its protocol."""
    speed = getattr(adhoc.mobility, "speed", None)
    found = known(
        nodes=over(adhoc.all_nodes),
        range=over(adhoc.range),
        side=over(*adhoc.sides),
        speed=over(speed.min, speed.max) if isinstance(speed, SpeedRange) else over(speed),
        queue=over(adhoc.radio.queue),
        frame_error=over(adhoc.frame_error),
        residual_error=over(adhoc.residual_error),
        ack_loss=over(adhoc.ack_error),
    )
    network = f"ad hoc networks ({adhoc.mobility.model.replace('_', ' ')})"
    return Compared(network, {name_of(run.transport): found | of_sender(run.transport)})
