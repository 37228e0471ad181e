"""Comparison of results: differences of the settings, and statistically significant differences of
outcomes."""
