"""Pages a person reads: study reports, the index of all studies, traces."""

from netcarlo.reports.trace.page import trace_page

__all__ = ["trace_page"]
