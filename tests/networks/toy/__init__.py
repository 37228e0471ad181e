"""Fifth kind of network, as a contributor would add it: `network.py` and `engine.py` are its folders."""
