"""Import of topologies: maps in the formats of other programs, and the scenario made of them."""
