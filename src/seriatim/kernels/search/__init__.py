"""Kernels that look for groupings and draw conclusions: for defences and attacks, never for promises."""
