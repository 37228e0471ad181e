"""802.11 networks: a cell, chain, tree or scattered stations on one channel."""
