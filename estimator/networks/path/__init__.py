"""Paths of hops, to a fixed or a mobile host."""
