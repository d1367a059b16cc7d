"""Groups neighbours along a Hilbert curve, cut into the best segments."""
