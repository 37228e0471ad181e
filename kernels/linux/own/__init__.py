"""A user's own congestion control on the sender of today's Linux: a window and a pacing rate."""
