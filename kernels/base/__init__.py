"""What all kernels share: columns, random numbers, random loss, sums."""
