"""Mobile ad hoc networks: moving nodes, changing routes, and one flow over the current route."""
