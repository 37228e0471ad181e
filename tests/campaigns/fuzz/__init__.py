"""Files and options with errors: each is accepted, or soon refused with one line for each error.

All shipped YAML files are the seeds.
"""
