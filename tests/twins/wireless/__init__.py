"""The slow, obvious twin of the 802.11 engine: stations, a channel, legs and flows as objects.

It shares nothing with the kernel but the column names.  `run.simulate` takes one row of `WifiRows`
and returns the same outcomes as `kernels.launch.run`, bit for bit.
"""
