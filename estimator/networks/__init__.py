"""Kinds of networks, one folder each, and their common parts."""
