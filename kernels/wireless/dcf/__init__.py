"""The distributed coordination function of 802.11a, b and g: one frame of one queue per access."""
