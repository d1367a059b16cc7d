"""Kernels of the defences that look at one release."""
