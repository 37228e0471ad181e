"""Statistics of a sweep over its networks: means, shares, decisions, and sensitivity."""
