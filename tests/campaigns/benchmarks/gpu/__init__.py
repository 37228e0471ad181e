"""Every model on a CUDA device: are the outcomes those of the CPU, bit for bit, and how fast is it?"""
