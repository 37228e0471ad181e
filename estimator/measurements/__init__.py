"""Measurements of real or simulated runs in the formats of the programs that write them.

`read` recognises the format and returns a `Measurement` for each run in a file: outcomes by the names that
netcarlo uses, in SI units, in total, for each flow, and over time.
"""

from netcarlo.measurements.read import read
from netcarlo.measurements.record import Curve, Flow, Measurement

__all__ = ["Curve", "Flow", "Measurement", "read"]
