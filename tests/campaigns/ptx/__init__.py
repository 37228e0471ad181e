"""CUDA code of the models, checked without a device; verdicts are stored by the hash of the PTX."""
