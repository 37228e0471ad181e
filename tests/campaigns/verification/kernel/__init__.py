"""The TCP of the running Linux kernel over an emulated bottleneck, in the columns of the references."""
