"""Fluid models: the rates of flows as differential equations, without packets."""
