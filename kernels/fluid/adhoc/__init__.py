"""Ad hoc networks as a fluid: the route in use over the drawn connectivity, and what a flow gets over it."""
