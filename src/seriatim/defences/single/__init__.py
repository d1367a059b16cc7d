"""Methods that look at one release alone."""
