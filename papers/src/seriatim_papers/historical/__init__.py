"""Groups that share little with any earlier group (Cor-Split)."""
