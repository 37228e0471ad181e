"""Files and options that nobody should write: each is taken, or soon refused with one line for each error.

All shipped YAML files are the seeds; at full size `python -m tests.fuzz`.
"""
