"""Fit of a scenario's fields to measured runs: posterior, what the data do not determine, left-out errors."""
