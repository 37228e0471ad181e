"""The kinds of networks, a folder each, and what the rest of the house asks of one."""
