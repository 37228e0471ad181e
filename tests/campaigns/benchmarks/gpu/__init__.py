"""Every model on a CUDA device: equality of the outcomes with the CPU, bit for bit, and speed."""
