"""Estimates with intervals, comparisons, goals, and validation against references."""
