"""A mobile ad hoc network with one flow."""
