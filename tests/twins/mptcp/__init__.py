"""MPTCP of Linux, from RFC 8684 and the kernel's description: subflows are twins of the TCP of current
Linux.
"""
