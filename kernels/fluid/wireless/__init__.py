"""Fluid model of 802.11 networks: fixed points of attempt probabilities, queueing delays and throughput."""
