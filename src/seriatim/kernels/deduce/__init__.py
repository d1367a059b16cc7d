"""Kernels of the attacks: what follows from published groups about the values of people."""
