"""TCP over handovers of HMIPv6, FMIPv6 and HIMIPv6."""
