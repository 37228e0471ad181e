"""Packet captures: the packets of one replication, with headers, as a pcapng file for Wireshark."""
