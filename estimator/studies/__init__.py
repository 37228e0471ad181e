"""Published studies: metrics and claims, a package for each folder of `configs/studies/`."""
