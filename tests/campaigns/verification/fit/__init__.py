"""Runs of iperf3 over the running kernel's TCP with a known path, which `netcarlo fit` must recover."""
