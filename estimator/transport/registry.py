"""All transports of a scenario."""

from typing import Annotated, Any, get_args

from pydantic import Discriminator, Tag

from netcarlo.schema.problems import Wrong
from netcarlo.schema.record import Record
from netcarlo.transport.capabilities import PROTOCOLS, TCPS
from netcarlo.transport.congestion import BUILT_IN
from netcarlo.transport.linux import Linux
from netcarlo.transport.mptcp import Mptcp
from netcarlo.transport.quic import Quic
from netcarlo.transport.sctp import Sctp
from netcarlo.transport.tcp import Linux26, Tcp, Vegas
from netcarlo.transport.udp import Udp


def _tag(data: Any) -> str | None:
    protocol = data.get("protocol") if isinstance(data, dict) else getattr(data, "protocol", None)
    if isinstance(protocol, Wrong):
        return _nearest(data)
    if protocol in (*TCPS, *BUILT_IN):
        return "<tcp>"
    return f"<{protocol}>" if protocol in PROTOCOLS else None


AnyTransport = Annotated[
    Annotated[Tcp, Tag("<tcp>")]
    | Annotated[Vegas, Tag("<vegas>")]
    | Annotated[Linux, Tag("<linux>")]
    | Annotated[Linux26, Tag("<linux26>")]
    | Annotated[Sctp, Tag("<sctp>")]
    | Annotated[Mptcp, Tag("<mptcp>")]
    | Annotated[Quic, Tag("<quic>")]
    | Annotated[Udp, Tag("<udp>")],
    Discriminator(_tag),
]
"""Transport of a scenario, by its `protocol`."""

_RECORDS: dict[str, type[Record]] = {
    tag.tag: record for record, tag in map(get_args, get_args(get_args(AnyTransport)[0]))
}
"""Records of transports, by their tag in the union."""


def record_of(protocol: str) -> Any:
    """Return the record of the transport that a protocol names."""
    return _RECORDS[_tag({"protocol": protocol}) or ""]


def _nearest(data: dict[str, Any]) -> str:
    """Return the tag of the transport that has most of these fields."""
    return max(_RECORDS, key=lambda tag: len(data.keys() & _RECORDS[tag].model_fields.keys()))


def with_wrong_protocol(data: dict[str, Any], protocol: Wrong) -> dict[str, Any]:
    """Return the fields of a transport whose protocol is wrong, without those that cannot be checked.

    Its fields are checked as those of the transport that has most of them. Fields of other transports, and
    the congestion control, are omitted, because they may be right with the protocol that the user intends.
    """
    known = {name for record in _RECORDS.values() for name in record.model_fields}
    omitted = (known - _RECORDS[_nearest(data)].model_fields.keys()) | {"congestion_control", "constants"}
    return {**{name: value for name, value in data.items() if name not in omitted}, "protocol": protocol}
