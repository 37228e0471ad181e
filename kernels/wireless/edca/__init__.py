"""Enhanced distributed channel access with A-MPDU and Block Ack: the MAC of 802.11n, ac and ax.

Sources: IEEE 802.11-2016, 10.22.2 (EDCA), 10.13 (A-MPDU), 10.24 (Block Ack), 10.12 (A-MSDU).
"""
