"""Comparisons with ns-2, ns-3, the Linux kernel and known answers, by the size that documentation quotes."""
