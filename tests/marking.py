"""Congestion control that writes a file when it runs, for tests of the permission to run it."""

CONTROL = """
import pathlib
pathlib.Path({mark!r}).touch()
CONSTANTS = {{"up": 1.0}}

def grow(cwnd, ssthresh, now, rtt, constants, memory):
    return cwnd + constants[0] / cwnd

def reduce(window, timeout, now, rtt, constants, memory):
    return window * 0.5
"""
