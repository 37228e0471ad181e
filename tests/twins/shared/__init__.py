"""The slow, obvious twin of the shared engine: flows of any kind over links that they share.

It shares nothing with the kernel but the column names.  `run.simulate` takes one row of `SharedRows`
and returns the same outcomes as `kernels.launch.run`, bit for bit, but for the number of events.
"""
