"""802.11 networks as a fluid: fixed points of who attempts, who waits and what gets through."""
