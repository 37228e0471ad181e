"""Endpoints of flows: the contract of a transport, and the hosts that drive one for an engine."""
