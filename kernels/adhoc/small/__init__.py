"""Sets of nodes and routes of networks of up to 64 nodes; `large` has the same functions for more nodes."""
