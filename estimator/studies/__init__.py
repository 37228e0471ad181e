"""The metrics and claims of each study, a module per folder of `configs/studies/`."""
