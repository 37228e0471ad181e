"""Runs of iperf3 over the running kernel's TCP with a known path, and how well `netcarlo fit` recovers it."""
