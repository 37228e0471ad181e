"""Groups of outcomes in tables: each outcome is in exactly one."""

import re
from collections.abc import Iterable
from typing import NamedTuple

from netcarlo.simulation.outcomes import of_classes


class Group(NamedTuple):
    """Outcomes that are listed under one title."""

    title: str
    pattern: str
    """Regular expression of the names of its outcomes."""


GROUPS = (
    Group("Handovers", "handovers|prepared|false_alarms|lost_in_.*|buffered|tunnelled|copies|discarded"),
    Group("Completion", "completion_.*|completed_share|transfer_s|finished|source_done_s|slowdown_.*"),
    Group("Messages", "messages|message_.*|idle_share"),
    Group("Throughput", ".*_bps|fairness|utilisation"),
    Group("Energy", "energy_.*|joules_per_MB|network_life_s"),
    Group(
        "Routing and connectivity",
        "mean_route_hops|breaks|false_breaks|discoveries|routing_frames|route_errors|salvaged|shortened|waited_s|"
        "connected_.*|split_share|share_hops_.*|mean_shortest_hops|mean_kept_hops|breaks_per_connected_s|"
        "mean_route_life_s|outages|outages_per_s|mean_outage_s|outage_time_s|link_changes_.*|mean_degree|kept_.*",
    ),
    Group(
        "Radio", "attempts.*|failed_attempt_ratio|retry_drops|collisions|noise_losses|air_.*|ppdus|mpdus_.*|"
        "retried_mpdu_ratio|block_ack_requests|internal_collisions|airtime_fairness",
    ),
    Group("Delay and queues", "mean_rtt_s|mean_delay_s|delay_.*|longest_wait_s|mean_queue"),
    Group("Losses", "drops_.*|drop_ratio|loss_.*|destroyed|ack_drops|marked|reordered(_data)?"),
    Group(
        "Congestion control and retransmission",
        "retransmitted|reinjected|timeouts|fast_retransmits|cwnd_reductions|mean_cwnd_packets|spared|probe.*",
    ),
    Group("Interruptions", "resume_.*|restart_s|failover_s|longest_silence_s|stale_subflows"),
    Group(
        "Packets and times",
        "sent|sent_alternate|delivered|in_order|received|acked|in_flight|handshakes|transmissions|arrivals|"
        "blocked_share|first_delivery_s|last_delivery_s|elapsed_s",
    ),
)  # fmt: skip
"""Groups by the first pattern that matches a name."""

ORDER = (
    "Throughput", "Completion", "Messages", "Delay and queues", "Losses",
    "Congestion control and retransmission", "Interruptions", "Handovers", "Routing and connectivity",
    "Radio", "Energy", "Packets and times",
)  # fmt: skip
"""Titles as they follow each other in a table; those of classes of flows come after the first three."""

OTHER = "Other"


def grouped(names: Iterable[str]) -> dict[str, list[str]]:
    """Return names of outcomes by the title of their group, in the order of a table."""
    names = list(names)
    of_class = {*of_classes(names)}
    found: dict[str, list[str]] = {title: [] for title in ORDER}
    for name in names:
        if name not in of_class:
            found.setdefault(title_of(name), []).append(name)
    classes = {"Classes of flows": [name for name in names if name in of_class]}
    first, rest = list(found.items())[:3], list(found.items())[3:]
    return {title: some for title, some in [*first, *classes.items(), *rest] if some}


def title_of(name: str) -> str:
    """Return the title of the group of an outcome."""
    return next((group.title for group in GROUPS if re.fullmatch(group.pattern, name)), OTHER)
