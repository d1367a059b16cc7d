"""The edge where policy files become Policy values, all faults reported at once."""
