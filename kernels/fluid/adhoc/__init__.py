"""Fluid model of ad hoc networks: the route in use over the drawn connectivity, and a flow's throughput over
it."""
