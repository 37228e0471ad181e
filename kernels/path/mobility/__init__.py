"""Mobile hosts: the schedule of handovers, their signalling and protocols, and the way of a packet."""
