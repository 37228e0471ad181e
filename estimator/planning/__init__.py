"""Capacity planning: the largest or smallest value of a quantity for which requirements hold.

A plan may have a second quantity; it is then answered at each value of it.
"""

from netcarlo.planning.definition import Plan
from netcarlo.planning.designs import Design, Frontier, frontier
from netcarlo.planning.file import load_plan, make_plan
from netcarlo.planning.run import Answer, Stopped, plan

__all__ = [
    "Answer",
    "Design",
    "Frontier",
    "Plan",
    "Stopped",
    "frontier",
    "load_plan",
    "make_plan",
    "plan",
]
