"""MPTCP of Linux, from RFC 8684 and the kernel's description: subflows are the twin of today's Linux."""
