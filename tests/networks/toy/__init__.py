"""A fifth kind of network, as somebody would add it: `network.py` and `engine.py` are its folders."""
