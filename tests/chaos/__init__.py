"""Sweeps under attack: processes killed, files cut, disks full; at full size `python -m tests.chaos`."""
