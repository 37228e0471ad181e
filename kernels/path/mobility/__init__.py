"""Mobile hosts: schedule of handovers, signalling, handover protocols, and forwarding of packets."""
