"""Fluid model of 802.11 networks: fixed points of attempts, waiting times and throughput."""
