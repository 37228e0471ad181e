"""Mutants: single-line faults in the source of netcarlo, each of which a test must notice."""
