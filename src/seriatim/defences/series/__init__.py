"""Methods that look back: they keep the releases of a series safe together."""
