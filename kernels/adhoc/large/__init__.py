"""Sets of nodes and routes of networks of up to 256 nodes, with the functions that `small` has."""
