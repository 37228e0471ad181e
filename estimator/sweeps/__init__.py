"""Sweeps: parameter spaces of networks, simulated cell by cell. A store has the results."""
