"""The TCP of the kernel that runs here, over an emulated bottleneck, in the columns of the references."""
