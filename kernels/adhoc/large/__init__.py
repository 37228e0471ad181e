"""Sets of nodes and routes for networks of up to 256 nodes; the functions are those of `small`."""
