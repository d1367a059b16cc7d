"""Kernels that judge: for promises and measures. They share nothing with the kernels of defences and attacks."""
