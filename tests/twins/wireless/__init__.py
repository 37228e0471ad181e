"""Slow and simple twin of the 802.11 engine: stations, a channel, legs and flows as objects.

It shares only the column names with the kernel.  `run.simulate` takes one row of `WifiRows`
and returns the same outcomes as `kernels.launch.run`, bit for bit.
"""
