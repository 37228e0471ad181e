"""Sweeps while processes are killed, files are damaged and disks are full."""
