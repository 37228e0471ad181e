"""Capacity planning: the largest or smallest value of a quantity for which requirements hold."""

from netcarlo.planning.file import Plan, load_plan, make_plan
from netcarlo.planning.run import Answer, Stopped, plan

__all__ = ["Answer", "Plan", "Stopped", "load_plan", "make_plan", "plan"]
