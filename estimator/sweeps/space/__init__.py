"""Space of a sweep: numbering of cells, the scenario of each cell, and drawn networks."""
