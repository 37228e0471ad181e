"""Files and options that nobody should write: every one is taken, or refused on one line in a short time.

All shipped YAML files are the seeds; at full size `python -m tests.fuzz`.
"""
