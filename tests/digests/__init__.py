"""Digests of what netcarlo answers: a net under changes that must not move a number."""
