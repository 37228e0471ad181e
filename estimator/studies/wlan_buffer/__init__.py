"""TCP buffer tuning over 802.11g."""
