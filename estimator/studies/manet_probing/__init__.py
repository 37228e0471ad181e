"""TCP-Probing and New TCP-Probing in an ad hoc network."""
