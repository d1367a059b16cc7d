"""Where work is run: local threads over compiled kernels."""
