"""Kernels of the record gate: merging, verdicts on cells, the queue, simulated critical values."""
