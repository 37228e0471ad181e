"""Stop-and-wait as the transport of a scenario."""

from typing import Literal

from netcarlo.transport.tcp import Tcp


class StopAndWait(Tcp):
    """Stop-and-wait."""

    protocol: Literal["stop_and_wait"]
    """Stop-and-wait."""
