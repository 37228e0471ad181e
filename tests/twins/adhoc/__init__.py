"""Slow and simple twin of the ad hoc engine: moving nodes, links, medium access, routing, and a flow.

It shares only the column names with the kernel.  `run.simulate` takes one row of `ManetRows`
and returns the same outcomes as `kernels.launch.run`, bit for bit.
"""
