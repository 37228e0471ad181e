"""Channel access of 802.11n, ac, ax and be in the fluid of 802.11: EDCA, A-MPDUs and Block Ack."""
