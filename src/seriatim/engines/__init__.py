"""Where work runs: local threads over compiled kernels."""
