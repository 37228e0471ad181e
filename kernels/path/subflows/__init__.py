"""MPTCP connection over two paths."""
