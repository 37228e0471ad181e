"""Simulation of scenarios: rows, kernel models, launches, outcomes and traces."""
