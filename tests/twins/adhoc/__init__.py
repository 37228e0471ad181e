"""The slow, obvious twin of the ad hoc engine: nodes that move, links, medium access, routing, a flow.

It shares nothing with the kernel but the column names.  `run.simulate` takes one row of `ManetRows`
and returns the same outcomes as `kernels.launch.run`, bit for bit.
"""
