"""Comparisons with ns-2, ns-3, the Linux kernel and known answers, at the size that documentation quotes."""
