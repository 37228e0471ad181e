"""Sweeps: spaces of networks, simulated cell by cell and kept in a store."""
