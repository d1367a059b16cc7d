"""Groups people about whom the same is believed, along a Hilbert curve."""
