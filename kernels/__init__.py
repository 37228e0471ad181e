"""The models, and the modules that compile and launch them."""
