"""EDCA, A-MPDU and Block Ack of 802.11n, ac and ax in the twin: stations with functions and agreements.

Written from IEEE 802.11-2016 (10.3, 10.13, 10.22.2, 10.24) and, for `RETRY_PER_MPDU` 0, from the behaviour of
ns-3 3.37.
"""
