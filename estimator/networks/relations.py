"""Relations between outcomes that hold in every replication, in addition to their bounds (`Outcome.values`).

Names are outcomes, outcomes of a flow or link (`Network.by_part`), or quantities in `RUN`. The same relations
hold between the outcomes of a class of flows.
"""

from typing import NamedTuple

RUN = {
    "duration_s": "duration of the scenario",
    "capacity_bps": "what the links of the network carry together at most",
    "limit_packets": "packets of a finite flow",
    "window_packets": "window of the receiver of a TCP flow",
    "tick_s": "granularity of the clock with which senders measure round-trip times",
    "neighbours": "nodes of an ad hoc network, less one",
    "one": "1",
}
"""Quantities of a run that bound its outcomes."""


class Relation(NamedTuple):
    """Chain of sums of outcomes, each at most the next or equal to it."""

    text: str
    """Sums joined by `<=` or `=`. A network must have only the first outcome of each sum; missing ones
    count as 0."""
    since_start: bool = False
    """True if the relation holds only without a warm-up, because packets sent during the warm-up arrive
    later."""
    but: str = ""
    """Kind of network (`Network.key`) that has other outcomes in place of some of these."""

    @property
    def pairs(self) -> list[tuple[tuple[str, ...], str, tuple[str, ...]]]:
        """Each sum, its relation to the next (`<=` or `=`), and the next sum."""
        words = self.text.split()
        signs = [k for k, word in enumerate(words) if word in ("<=", "=")]
        ends = zip([-1, *signs], [*signs, len(words)], strict=True)
        sums = [tuple(word for word in words[a + 1 : b] if word != "+") for a, b in ends]
        return [(sums[i], words[k], sums[i + 1]) for i, k in enumerate(signs)]


SIZES = "", "_10kB", "_100kB", "_1MB", "_larger"
"""Suffixes of outcomes of arriving flows, by size."""

RELATIONS = (
    # Packets.
    Relation("acked <= in_order <= delivered", since_start=True),
    Relation("delivered <= received"),
    Relation("delivered <= limit_packets"),
    Relation("retransmitted <= sent"),
    Relation("sent_alternate <= sent"),
    Relation("reordered <= received"),
    Relation("reordered_data <= received"),
    Relation("discarded <= copies"),
    Relation(
        "sent + copies = received + drops_queue + drops_random + drops_outage + destroyed + drops_route + "
        "drops_buffer + lost_in_handover + lost_in_buffer + discarded + in_flight",
        since_start=True,
        but="wireless",
    ),
    Relation(
        "in_flight_before + sent = "
        "received + drops_queue + drops_random + drops_leg + lost_retries + in_flight"
    ),
    Relation("mean_cwnd_packets <= window_packets"),
    Relation("prepared <= handovers"),
    Relation("false_breaks <= breaks"),
    # Links and frames.
    Relation("drops + transmissions <= arrivals", since_start=True),
    Relation("attempts_station <= attempts"),
    Relation("retry_drops <= attempts"),
    Relation("air_failed <= air_data"),
    # Shares.
    Relation("loss_source + loss_relay + loss_retries + loss_leg <= one", since_start=True),
    Relation("in_time + late <= one"),
    Relation("share_hops_1 + share_hops_2 + share_hops_3 + share_hops_4 + share_hops_5 = one"),
    # Times.
    Relation("first_delivery_s <= last_delivery_s <= duration_s"),
    Relation("resume_tx_s <= resume_rx_s <= duration_s"),
    Relation("completion_s <= transfer_s <= duration_s"),
    Relation("completion_s <= duration_s"),
    Relation("source_done_s <= completion_s"),
    Relation("mean_delay_s <= duration_s"),
    Relation("delay_p50_s <= delay_p95_s <= delay_p99_s"),
    Relation("message_p50_s <= message_p95_s <= message_p99_s"),
    *(
        Relation(f"completion_p50{size}_s <= completion_p95{size}_s <= completion_p99{size}_s")
        for size in SIZES
    ),
    *(Relation(f"slowdown_p50{size} <= slowdown_p95{size} <= slowdown_p99{size}") for size in SIZES),
    *(Relation(f"one <= slowdown_mean{size}") for size in SIZES),
    Relation("completion_mean_s <= duration_s"),
    Relation("message_mean_s <= duration_s"),
    Relation("longest_wait_s <= duration_s"),
    Relation("longest_silence_s <= duration_s"),
    Relation("failover_s <= duration_s"),
    Relation("mean_rtt_s <= duration_s + tick_s"),
    Relation("base_rtt_s <= mean_rtt_s + tick_s"),
    Relation("connected_s + outage_time_s <= elapsed_s <= duration_s"),
    Relation("probe_time_s <= elapsed_s"),
    Relation("waited_s <= elapsed_s"),
    # Rates.
    Relation("goodput_bps <= throughput_bps", since_start=True),
    Relation("throughput_bps <= capacity_bps"),
    Relation("goodput_bps <= capacity_bps"),
    Relation("acked_bps <= capacity_bps"),
    Relation("best_bps <= capacity_bps"),
    Relation("worst_flow_bps <= mean_flow_bps <= best_flow_bps"),
    Relation("tcp_goodput_bps <= goodput_bps"),
    Relation("upload_bps + download_bps <= goodput_bps"),
    Relation("carried_bps <= goodput_bps"),
    Relation("carried_bps <= offered_bps", since_start=True),
    Relation("transfer_bps <= goodput_bps"),
    # Ad hoc networks.
    Relation("mean_shortest_hops <= mean_kept_hops"),
    Relation("mean_degree <= neighbours"),
    Relation("energy_source_J <= energy_most_J <= energy_J"),
    Relation("energy_sink_J <= energy_most_J"),
)
