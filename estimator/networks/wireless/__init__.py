"""802.11: a cell, a chain, a tree or scattered stations on one channel."""
