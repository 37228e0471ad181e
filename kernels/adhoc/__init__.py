"""Mobile ad hoc networks: nodes that move, routes that break, a flow over the changing route."""
