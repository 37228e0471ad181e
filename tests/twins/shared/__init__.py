"""Slow and simple twin of the engine of shared links: flows of any kind over links that they share.

It shares only the column names with the kernel.  `run.simulate` takes one row of `SharedRows`
and returns the same outcomes as `kernels.launch.run`, bit for bit, except the number of events.
"""
