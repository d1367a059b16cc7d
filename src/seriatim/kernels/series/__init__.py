"""Kernels of the serial defences: buckets, groups, and what groups share with earlier ones."""
