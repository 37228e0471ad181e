"""MPTCP of Linux 6.18: a connection whose data travel over a TCP subflow per path (RFC 8684).

A subflow is an association of today's Linux (`linux`), whose application is the scheduler:

1. The connection numbers data packets from 0 (data sequence numbers, DSN). The scheduler appends the next one
   to the send queue of a subflow (`Tcp.LAST`), and a ring of the subflow maps its packets to DSNs.
2. `scheduler` follows `mptcp_subflow_get_send`: the subflow whose queue lasts shortest at its pacing rate, a
   backup only if no other is active. Send buffers of subflows grow with their windows (`tcp_sndbuf_expand`).
   `socket_buffers` bound the bursts of a subflow.
3. `receiver` reorders data of the subflows. Every ACK of a subflow carries the cumulative data ACK, beside
   which there is room for one SACK block.
4. `reinjection` has the connection's own timer. It retransmits the first data on an idle subflow, and counts
   periods without an ACK: more than `stale_loss_cnt` make a subflow stale, and all unacknowledged data are
   reinjected.
5. Further subflows join when the first data of the first one are acknowledged. They carry data after the
   answer to the third packet of their handshake.
6. `coupled` has congestion controls that couple the subflows, instead of one for each.

The engine (`path.subflows`) calls these functions for events at the two hosts, in the order of time.
"""
