"""TCP and UDP over an 802.11g multi-hop chain."""
