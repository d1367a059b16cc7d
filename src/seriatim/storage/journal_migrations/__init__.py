"""How a gate's journal grows from one revision to the next."""
