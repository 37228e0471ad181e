"""Estimates with confidence intervals, goals, control variates, and validation against references."""
