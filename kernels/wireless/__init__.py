"""The 802.11 engine: a cell or a multi-hop network on one channel, frame by frame."""
