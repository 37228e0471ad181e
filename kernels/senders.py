"""Senders of flows, and the numbers by which kernels know them in a mixture."""

UDP = 0
TAHOE = 1
RENO = 2
NEWRENO = 3
SACK = 4
VEGAS = 5
BIC = 6  # on the loss recovery of SACK, as CUBIC and WESTWOOD
CUBIC = 7
WESTWOOD = 8
KINDS = ("udp", "tahoe", "reno", "newreno", "sack", "vegas", "bic", "cubic", "westwood")
"""Values of `Flow.KIND` by name."""
ALONE = len(KINDS)
"""Any other TCP, which all TCP flows of the row are then of."""
LINUX_RENO = ALONE + 1  # today's Linux: a sender and a receiver of their own
LINUX_CUBIC = ALONE + 2
LINUX_BBR = ALONE + 3
LINUX_BBR3 = ALONE + 4
LINUX_KINDS = ("linux_reno", "linux_cubic", "linux_bbr", "linux_bbr3")
"""Names of those, in their order: all kinds may be mixed in a row."""
LINUX_OWN = LINUX_RENO + len(LINUX_KINDS)
"""Today's Linux with the congestion control of a user's file."""
OWN = "linux_own"
"""Name of the sender with number LINUX_OWN in outcomes."""
