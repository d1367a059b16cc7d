"""Kernels of closed lineages: cells, slots refilled and slots dropped."""
