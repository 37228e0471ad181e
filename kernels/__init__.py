"""Models, and the modules that compile and launch them."""
