"""Which transport goes with which kind of network: the table of docs/models/matrix.md.

`python -m tests.networks.matrix` writes the page anew from what the kinds of networks answer.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from netcarlo.errors import InputError
from netcarlo.scenario import Scenario
from netcarlo.transport.answers import PROTOCOLS
from netcarlo.transport.congestion import BUILT_IN, CONTROLS_OF_LINUX
from netcarlo.transport.kinds import TCPS

PAGE = Path(__file__).parents[2] / "docs" / "models" / "matrix.md"

HOP = {"rate": "1 Mbit/s", "delay": "5 ms"}
NETWORKS: dict[str, dict[str, Any]] = {
    "paths": {"paths": [{"hops": [HOP]}]},
    "paths, mobile host": {
        "paths": [{"hops": [HOP, HOP]}],
        "mobility": {"protocol": "mipv6", "times": ["200 ms"], "outage": "20 ms", "least_stay": "50 ms"},
    },
    "shared": {"shared": {"dumbbell": HOP, "flows": [{"count": 2, "each": {}}]}},
    "wireless": {"wireless": {"cell": {"stations": 2}}},
    "adhoc": {
        "adhoc": {"nodes": 3, "area": {"side": "50 m"}, "range": "100 m", "mobility": {"model": "static"}}
    },
}
"""A small network of each kind; a path twice."""

TRANSPORTS: dict[str, dict[str, Any]] = {"udp": {"rate": "500 kbit/s"}}
"""What a transport needs besides its protocol."""

FIDELITIES = {"packet": "packets", "fluid": "fluid", "formula": "formula"}

REASON = (
    "the sender acts on what the network tells it, a broken route or a packet seen destroyed, and "
    "nobody there can tell: queues drop in silence, and 802.11 throws away a frame that it cannot read"
)
"""Why a cell is refused: (a)."""

HEAD = """\
# Which transport goes with which network

*Made from `Answers.supports` and `Network.unknown` by `python -m tests.networks.matrix`, and compared
with them by `tests/networks/test_matrix.py`, which estimates every cell that is not empty.*

A cell names the fidelities ([what they are](../fidelity.md)) of a network in its simplest form; more of it
(outages, ends, buffers, congestion controls of your own) may be for packets only, and is then refused by
name. An (a) stands for a refusal.
"""


def senders(names: Sequence[str]) -> str:
    """Return a list of names in words."""
    *first, last = (f"`{name}`" for name in names)
    return f"{', '.join(first)} and {last}"


TAIL = f"""
{senders(BUILT_IN)} are SACK with that window growth. Every other TCP but Vegas, which is a
congestion control itself, takes them, too, as `congestion_control:`, and so it takes a file of yours, in
packets; `linux` takes {senders(CONTROLS_OF_LINUX)}
([BBR](bbr.md)), of which `{CONTROLS_OF_LINUX[0]}` is its own, and a file of yours that returns a rate.

The TCP flows of a shared or 802.11 network are all of one kind, whichever it is, or a mix of
{senders((*TCPS, "linux"))};
or they are SCTP. UDP goes beside them all. Two paths are for SCTP alone.
"""


def scenario(network: str, protocol: str, fidelity: str = "packet") -> Scenario:
    """A tiny scenario of a cell.  Raises InputError."""
    return Scenario.check(
        {
            "name": "tiny",
            "duration": "300 ms",
            "replications": 2,
            "fidelity": fidelity,
            "transport": {"protocol": protocol, **TRANSPORTS.get(protocol, {})},
            **NETWORKS[network],
        }
    )


def fidelities(network: str, protocol: str) -> tuple[str, ...]:
    """Those that know a cell; none where it is refused."""
    try:
        found = scenario(network, protocol)
    except InputError:
        return ()
    return tuple(f for f in FIDELITIES if f == "packet" or not found.network.unknown(found, f))  # type: ignore[arg-type]


def page() -> str:
    """The page."""
    lines = [f"| | {' | '.join(NETWORKS)} |", "|---" * (len(NETWORKS) + 1) + "|"]
    for protocol in PROTOCOLS:
        cells = []
        for network in NETWORKS:
            known = [FIDELITIES[f] for f in fidelities(network, protocol)]
            cells.append(", ".join(known) or "(a)")
        lines.append(f"| `{protocol}` | {' | '.join(cells)} |")
    return "\n".join([HEAD, *lines, "", f"(a) {REASON}.", TAIL])


if __name__ == "__main__":
    PAGE.write_text(page())
