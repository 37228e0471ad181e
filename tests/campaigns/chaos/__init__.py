"""Sweeps under attack: processes killed, files cut, disks full."""
