"""Kernels that judge: for promises and measures. They share nothing with kernels.search."""
