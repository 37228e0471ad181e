"""Reference page of all outcomes."""

from collections.abc import Iterable, Iterator

from netcarlo.networks import classes
from netcarlo.networks.outcome import ANY, SHARE, YES_NO, Outcome, declared, dimension
from netcarlo.networks.registry import NETWORKS
from netcarlo.networks.relations import RELATIONS, RUN
from netcarlo.schema.readable import FRACTION
from netcarlo.transport.capabilities import PROTOCOLS
from netcarlo.transport.registry import record_of
from tests.reference.markdown import KNOWN, page, table

TITLES = {
    "paths": "Paths", "wireless": "802.11 networks", "adhoc": "Ad hoc networks", "shared": "Shared links"
}  # fmt: skip
INTRODUCTION = """\
What is measured in every replication, and what estimates, goals, sweeps, plans and comparisons name. Values
are in the unit that is named; a *number* is one of packets or events unless its meaning says otherwise.
*Better* says whether more of it is, or less. A time that did not happen is missing, and not 0. Each kind of
network has those outcomes of paths that make sense there, and its own. Files: [fields](fields.md).
"""
CLASSES = """\
Where flows name a `class`, each class has these; of `class: video` they are `video_mean_delay_s` and so on
([how](../models/delays.md)).
"""
RTT = """\
The RTT of a sender is the time from sending a packet to the arrival of its ACK at the sender. It includes all
queues, transmission times, access links, and the time for which the receiver delays the ACK (`ack_delay`).
`mean_rtt_s` is the mean of the value that the sender holds, sampled every `sample_interval`. Samples begin
with the first measurement, and repeat the last value while there is no new one, as during a timeout or a
pause. So `mean_rtt_s` weights time, not packets. What the sender holds depends on
the transport:
"""
RTT_OF_NETWORKS = """\
Which flows `mean_rtt_s` describes depends on the network. `base_rtt_s` of a [store](store.md), from which
`bdp_packets` follows, is the RTT of a single packet in an empty network:
"""
NO_RTT = "no `mean_rtt_s`; delays are measured by class of flows"
RTT_BY_NETWORK = {
    "paths": ("the transfer", "propagation and transmission of a data packet and its ACK over all hops"),
    "shared": (
        "mean over the flows that last for the whole run and are not UDP, after `warm_up`; also by flow",
        "the same, over the route of the first flow (UDP: one way); of a flow: propagation only",
    ),
    "wireless": (NO_RTT, "frames without contention on the path of the first flow (UDP: one way)"),
    "adhoc": (NO_RTT, "the exchange of a data packet and of an ACK over one hop, without contention"),
}
RTT_OF_CHEAP_MODELS = """\
With `fidelity: fluid`, `mean_rtt_s` is the round trip of the model at the time of the sample: propagation,
transmission and queues, without ticks, smoothing and delayed ACKs. With `fidelity: formula` it is the window
over the rate in the steady state, over paths only.
"""
RELATED = """\
These hold in every replication, between the outcomes of a run, of a class of flows, and of a flow or a link.
Outcomes that a network does not have count as 0, but if the first outcome of a sum is missing, the relation
says nothing. Beside outcomes they name:
"""
HEAD = "outcome", "unit", "better", "meaning"


def unit(outcome: Outcome) -> str:
    """Return the unit of an outcome."""
    if outcome.values in (SHARE, YES_NO) or outcome.unit == FRACTION or outcome.meaning.startswith("share"):
        return "share"
    return outcome.unit or dimension(outcome.name).unit or "number"


def outcomes_page() -> str:
    """Return the reference page of all outcomes."""
    lines = ["# Outcomes", "", KNOWN, "", INTRODUCTION]
    for kind in NETWORKS:
        lines += [f"## {TITLES[kind.key]}", "", *table(HEAD, _rows(declared(kind.outcomes)))]
    lines += ["## Classes of flows", "", CLASSES, *table(HEAD, _rows(classes.CLASS_OUTCOMES, "CLASS_"))]
    return page(
        [
            *lines,
            *_round_trip_time(),
            "## Relations",
            "",
            RELATED,
            *table(("name", "meaning"), _of_runs()),
            *table(("relation", "where"), _relations()),
        ]
    )


def _round_trip_time() -> list[str]:
    """Return the section on what RTT means for each transport and each kind of network."""
    named: dict[str, list[str]] = {}
    for protocol in PROTOCOLS:
        named.setdefault(record_of(protocol).rtt, []).append(f"`{protocol}`")
    none = "no RTT: nothing is acknowledged"
    transports = ((", ".join(names), text or none) for text, names in named.items())
    networks = []
    for kind in NETWORKS:
        mean, base = RTT_BY_NETWORK[kind.key]
        measured = any(outcome.name == "mean_rtt_s" for outcome in kind.outcomes)
        assert measured == (mean != NO_RTT), f"RTT_BY_NETWORK of {kind.key} and its outcomes differ"
        networks.append((TITLES[kind.key], mean, base))
    return [
        "## Round-trip time", "", RTT, *table(("protocol", "RTT that the sender holds"), transports),
        RTT_OF_NETWORKS, *table(("network", "`mean_rtt_s`", "`base_rtt_s`"), networks), RTT_OF_CHEAP_MODELS,
    ]  # fmt: skip


def _of_runs() -> Iterator[tuple[str, str]]:
    return ((f"`{name}`", text) for name, text in RUN.items())


def _relations() -> Iterator[tuple[str, str]]:
    for relation in RELATIONS:
        where = ["without a warm-up"] if relation.since_start else []
        where += [f"not in {TITLES[relation.but]}"] if relation.but else []
        yield f"`{relation.text}`", "; ".join(where)


def _rows(found: Iterable[Outcome], before: str = "") -> Iterator[tuple[str, ...]]:
    for outcome in found:
        sign = "; may be negative" if outcome.values == ANY else ""
        yield f"`{before}{outcome.name}`", unit(outcome), outcome.better or "", outcome.meaning + sign
