"""All transports of a scenario."""

from typing import Annotated, Any

from pydantic import Discriminator, Tag

from netcarlo.transport.capabilities import PROTOCOLS, TCPS
from netcarlo.transport.congestion import BUILT_IN
from netcarlo.transport.tcp import Linux, Linux26, Sctp, Tcp, Vegas
from netcarlo.transport.udp import Udp


def _tag(data: Any) -> str | None:
    protocol = data.get("protocol") if isinstance(data, dict) else getattr(data, "protocol", None)
    if protocol in (*TCPS, *BUILT_IN):
        return "<tcp>"
    return f"<{protocol}>" if protocol in PROTOCOLS else None


AnyTransport = Annotated[
    Annotated[Tcp, Tag("<tcp>")]
    | Annotated[Vegas, Tag("<vegas>")]
    | Annotated[Linux, Tag("<linux>")]
    | Annotated[Linux26, Tag("<linux26>")]
    | Annotated[Sctp, Tag("<sctp>")]
    | Annotated[Udp, Tag("<udp>")],
    Discriminator(_tag),
]
"""Transport of a scenario, by its `protocol`."""
